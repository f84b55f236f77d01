import type { McpServerIdentity } from '../../identity/config/identity-config.js';
import { toJwtValidation } from '../../identity/config/to-jwt-validation.js';
import type { MappedSecrets } from './mapped-secrets.js';
import type { McpServer } from './mcp-server.entity.js';
import type { OpenSettings } from './mcp-server.settings.js';
import type { McpTimeouts, McpTransport } from './mcp-server.types.js';

/** A server opened for use: in memory only, and for a few seconds. */
export interface UsableMcpServer {
  readonly id: string;
  readonly organisationId: string;
  /** null: of the whole organisation. */
  readonly workspaceId: string | null;
  /** Of its workspace, for callers without one; the others bring their own. */
  readonly defaultMetadata: Readonly<Record<string, string>>;
  readonly slug: string;
  readonly url: URL;
  readonly transport: McpTransport;
  /** What the gateway itself presents to the server, as far as it is stored here. */
  readonly headers: Readonly<Record<string, string>>;
  /** The rest of it. */
  readonly mapped: MappedSecrets;
  readonly allowedOrigins: readonly string[];
  readonly timeouts: McpTimeouts;
  readonly disabledTools: ReadonlySet<string>;
  /** For the identity room; the address comes with each request. */
  readonly identity: Omit<McpServerIdentity, 'resource'>;
}

/** What a server has besides its own row. */
export type McpServerSurroundings = Pick<UsableMcpServer, 'defaultMetadata' | 'disabledTools'>;

export function toUsableMcpServer(
  row: McpServer,
  settings: OpenSettings,
  { defaultMetadata, disabledTools }: McpServerSurroundings,
  mapped: MappedSecrets,
): UsableMcpServer {
  const { id, organisationId, workspaceId, slug } = row;
  return {
    id,
    organisationId,
    workspaceId,
    defaultMetadata,
    slug,
    url: new URL(settings.url),
    transport: settings.transport,
    headers: Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name, String(value)])),
    mapped,
    allowedOrigins: settings.allowedOrigins,
    timeouts: settings.timeouts,
    disabledTools,
    identity: {
      id,
      organisationId,
      workspaceId,
      userIdentityForwarding: settings.user_identity_forwarding ?? undefined,
      jwtValidation: settings.jwt_validation
        ? toJwtValidation(settings.jwt_validation, mapped.readClientSecret)
        : undefined,
      forwardHeaders: settings.forward_headers ?? undefined,
    },
  };
}
