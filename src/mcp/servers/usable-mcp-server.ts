import type { BodyLogging } from '../../access/principal.js';
import type {
  McpServerIdentity,
  Freshness,
  ReadSecret,
  UserIdentityForwarding,
} from '../../identity/config/identity-config.js';
import { toJwtValidation } from '../../identity/config/to-jwt-validation.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import {
  type LoadedMapping,
  type MappedValues,
  mappedValuesNotValid,
  type SecretFieldValues,
} from '../../secret-references/mapped-resource/mapped-values.js';
import { audienceOf } from './mcp-server.audience.js';
import type { McpServer } from './mcp-server.entity.js';
import type { OpenSettings } from './mcp-server.settings.js';
import type { McpTimeouts, McpTransport } from './mcp-server.types.js';
import { valueProblem } from './check-mcp-server.js';
import { CLIENT_SECRET, headerOf } from './mcp-server.fields.js';

/** A server opened for use: in memory only, and for a few seconds. */
export interface UsableMcpServer {
  readonly id: string;
  readonly organisationId: string;
  /** null for a server of the whole organisation. */
  readonly workspaceId: string | null;
  /** The default metadata of its workspace, for callers without a workspace. Other callers bring their own. */
  readonly defaultMetadata: Readonly<Record<string, string>>;
  /** How that workspace logs the bodies of calls. */
  readonly logBodies?: BodyLogging | undefined;
  readonly slug: string;
  readonly url: URL;
  readonly transport: McpTransport;
  /** The fixed headers that are stored with the server. */
  readonly headers: Readonly<Record<string, string>>;
  /** The secrets that come from secret references. */
  readonly mapped: MappedSecrets;
  readonly allowedOrigins: readonly string[];
  readonly timeouts: McpTimeouts;
  readonly disabledTools: ReadonlySet<string>;
  /** The tools of a pinned server that may be used; undefined when all may. */
  readonly acceptedTools: ReadonlyMap<string, AcceptedTool> | undefined;
  /** The input of the identity module. The address comes with each request. */
  readonly identity: Omit<McpServerIdentity, 'resource'>;
}

/** A tool of a pinned server. */
export interface AcceptedTool {
  /** The hash of the accepted definition. */
  readonly hash: string;
  /** Whether the server has shown another definition since. */
  readonly isHeld: boolean;
}

/** The parts of a server that are stored outside of its row. */
export type McpServerSurroundings = Pick<
  UsableMcpServer,
  'defaultMetadata' | 'logBodies' | 'disabledTools' | 'acceptedTools'
>;

export function toUsableMcpServer(
  row: McpServer,
  settings: OpenSettings,
  { defaultMetadata, logBodies, disabledTools, acceptedTools }: McpServerSurroundings,
  mapped: MappedSecrets,
): UsableMcpServer {
  const { id, organisationId, workspaceId, slug } = row;
  return {
    id,
    organisationId,
    workspaceId,
    defaultMetadata,
    logBodies,
    slug,
    url: new URL(settings.url),
    transport: settings.transport,
    headers: Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name, String(value)])),
    mapped,
    allowedOrigins: settings.allowedOrigins,
    timeouts: settings.timeouts,
    disabledTools,
    acceptedTools,
    identity: {
      id,
      organisationId,
      workspaceId,
      userIdentityForwarding: forwardingOf(settings),
      jwtValidation: settings.jwt_validation
        ? toJwtValidation(settings.jwt_validation, mapped.readClientSecret)
        : undefined,
      forwardHeaders: settings.forward_headers ?? undefined,
    },
  };
}

/** Adds the audience of the server's tokens. */
function forwardingOf({ user_identity_forwarding: forwarding, url }: OpenSettings): UserIdentityForwarding | undefined {
  return forwarding ? { ...forwarding, audience: audienceOf(forwarding, url) } : undefined;
}

/** The owner of a mapping, as named in messages. */
const OWNER = 'MCP server';
const MAX_CLIENT_SECRET_CHARACTERS = 1_024;

/**
 * The secrets of a server that come from secret references. They are read for every use: only the secret references
 * cache values, so that a rotation takes effect as soon as they notice it.
 */
interface MappedSecrets {
  readonly headerNames: readonly string[];
  /** @throws GatewayError `secret_unavailable`, also for values that are not valid headers; its reason names the fields */
  readonly readHeaders: (freshness: Freshness) => MaybePromise<Readonly<Record<string, string>>>;
  /** Undefined when the client secret is not mapped. */
  readonly readClientSecret: ReadSecret | undefined;
}

const NO_HEADERS = {} as const;

export function mappedSecrets(values: MappedValues, mappings: readonly LoadedMapping[]): MappedSecrets {
  const ofHeaders = mappings.filter(({ targetField }) => headerOf(targetField) !== undefined);
  const ofClient = mappings.filter(({ targetField }) => targetField === CLIENT_SECRET);
  return {
    headerNames: ofHeaders.map(({ targetField }) => headerOf(targetField) ?? ''),
    readHeaders: (freshness) =>
      ofHeaders.length === 0 ? NO_HEADERS : values.read(ofHeaders, freshness).then(toHeaders),
    readClientSecret:
      ofClient.length === 0 ? undefined : async (freshness) => toClientSecret(await values.read(ofClient, freshness)),
  };
}

function toHeaders(values: SecretFieldValues): Readonly<Record<string, string>> {
  const broken = [...values].filter(([, value]) => valueProblem(value) !== undefined).map(([field]) => field);
  if (broken.length > 0) throw mappedValuesNotValid(OWNER, broken);
  return Object.fromEntries([...values].map(([field, value]) => [headerOf(field) ?? '', String(value)]));
}

function toClientSecret(values: SecretFieldValues): string {
  const secret = values.get(CLIENT_SECRET);
  if (typeof secret === 'string' && secret !== '' && secret.length <= MAX_CLIENT_SECRET_CHARACTERS) return secret;
  throw mappedValuesNotValid(OWNER, [CLIENT_SECRET]);
}
