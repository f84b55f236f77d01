import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../../common/time/unix-time.js';
import { ForwardHeadersDto } from '../../identity/config/forward-headers.dto.js';
import type {
  ForwardHeaders,
  JwtValidationFields,
  UserIdentityForwarding,
} from '../../identity/config/identity-config.js';
import { JwtValidationDto } from '../../identity/config/jwt-validation.dto.js';
import { UserIdentityForwardingDto } from '../../identity/config/user-identity-forwarding.dto.js';
import { SecretMappingResponse, toSecretMappingResponse } from '../../secret-references/secret-mapping.response.js';
import { McpLastCallResponse } from '../calls/mcp-last-call.response.js';
import { McpTimeoutsDto } from './dto/mcp-server.dto.js';
import type { McpServer } from './mcp-server.entity.js';
import type { McpAuthType, McpTransport, McpEra } from './mcp-server.types.js';
import type { McpServerTool } from './mcp-server-tool.entity.js';
import { isHeld } from './tool-changes.js';

export class McpServerResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'mcp-server';
  readonly organisation_id: string;
  /** null: usable in every workspace of the organisation. */
  readonly workspace_id: string | null;
  readonly name: string;
  readonly description: string | null;
  /** The server's own address. */
  readonly url: string;
  /** Where clients connect. */
  readonly mcp_url: string;
  /** The transport of the server. */
  readonly transport: McpTransport;
  /** How the gateway authenticates to the server. */
  readonly auth_type: McpAuthType;
  /** Values masked. */
  readonly headers: Record<string, string>;
  /** Fields that take their values from secret references. */
  readonly secret_mappings: SecretMappingResponse[];
  /** How the server learns who calls; null: it does not. */
  @ApiProperty({ type: UserIdentityForwardingDto, nullable: true })
  readonly user_identity_forwarding: UserIdentityForwarding | null;
  /** Secrets masked. */
  @ApiProperty({ type: JwtValidationDto, nullable: true })
  readonly jwt_validation: JwtValidationFields | null;
  /** Which of the client's headers reach the server; null: the default ones. */
  @ApiProperty({ type: ForwardHeadersDto, nullable: true })
  readonly forward_headers: ForwardHeaders | null;
  /** Origins of web pages that may call the server. */
  readonly allowed_origins: string[];
  /** How long the gateway waits. */
  readonly timeouts: McpTimeoutsDto;
  /** Whether clients can call the server. */
  readonly enabled: boolean;
  /** Whether changed tools wait until they are accepted. */
  readonly pin: boolean;
  /**
   * How the last call ended. null: there was none in the calls that are kept, or the caller lacks the scope `mcp_servers.read`,
   * with which calls are listed.
   */
  @ApiProperty({ type: McpLastCallResponse, nullable: true })
  readonly last_call: McpLastCallResponse | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class McpServerListResponse {
  readonly object: 'list';
  readonly data: McpServerResponse[];
  readonly total: number;
}

/** What was set of a server, without what was seen of it. */
export type StoredMcpServerResponse = Omit<McpServerResponse, 'last_call'>;

/** What a response shows of the things that are not in the row as they are. */
export interface ShownParts {
  readonly mcpUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly jwtValidation: JwtValidationFields | null;
}

export function toMcpServerResponse(row: McpServer, shown: ShownParts): StoredMcpServerResponse {
  return {
    id: row.id,
    slug: row.slug,
    object: 'mcp-server',
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    name: row.name,
    description: row.description,
    url: row.url,
    mcp_url: shown.mcpUrl,
    transport: row.transport,
    auth_type: row.authType,
    headers: shown.headers,
    secret_mappings: row.secretMappings.map(toSecretMappingResponse),
    user_identity_forwarding: row.userIdentityForwarding,
    jwt_validation: shown.jwtValidation,
    forward_headers: row.forwardHeaders,
    allowed_origins: row.allowedOrigins,
    timeouts: row.timeouts,
    enabled: row.enabled,
    pin: row.pin,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}

class McpServerToolResponse {
  /** The name of the tool. */
  readonly name: string;
  /** Whether clients can see and call the tool. */
  readonly enabled: boolean;
  /** What the server says about the tool. */
  readonly description: string | null;
  /** When the server last listed it, in Unix seconds; null: never. */
  readonly seen_at: number | null;
  /** The hash of its description and schemas; null: it was never seen. */
  readonly hash: string | null;
  /** JSON schema of the arguments, as the server last listed it; null: it is not known, or longer than 16 KiB. */
  readonly input_schema: Record<string, unknown> | null;
  /** When they were first seen to differ from before, in Unix seconds; null: never. */
  readonly changed_at: number | null;
  /** Whether clients cannot use the tool because it is new or has changed, and the server is pinned. */
  readonly held: boolean;
}

export class McpServerToolListResponse {
  readonly object: 'list';
  readonly data: McpServerToolResponse[];
  readonly total: number;
}

export function toToolResponse(tool: McpServerTool, server: Pick<McpServer, 'pin'>): McpServerToolResponse {
  const { name, enabled, description, seenAt, hash, changedAt } = tool;
  const input_schema = tool.inputSchema === null ? null : { ...tool.inputSchema };
  const held = isHeld(tool, server);
  const [seen_at, changed_at] = [toUnixSeconds(seenAt), toUnixSeconds(changedAt)];
  return { name, enabled, description, seen_at, hash, input_schema, changed_at, held };
}

class McpServerInfoResponse {
  /** The name of the server software. */
  readonly name: string;
  /** The version of the server software. */
  readonly version: string;
}

export class McpServerTestResponse {
  /** Whether the server took the gateway for a client and told its tools. */
  readonly ok: boolean;
  /** How long the test took. */
  readonly latency_ms: number;
  /**
   * For which clients the server is: `modern`, for those of revision 2026-07-28 and later, without handshake and session;
   * `legacy`, for those that begin with `initialize`; or `both`.
   */
  readonly era?: McpEra;
  /** Revision of MCP in which it was asked. */
  readonly protocol_version?: string;
  /** Revisions that it named, or agreed on. */
  readonly protocol_versions?: string[];
  /** What the server calls itself. */
  @ApiProperty({ type: McpServerInfoResponse, nullable: true })
  readonly server?: McpServerInfoResponse | null;
  /**
   * How many tools it has told, each name once and without those that cannot be stored. It is asked for no more than 50 pages, and for
   * none behind the 1,000th tool. At most 1,000 are remembered.
   */
  readonly tools?: number;
  /** Code of the error, when it did not. */
  readonly error?: string;
  /** What is missing, when the gateway knows: for example, that JWT_PRIVATE_KEY is not set. */
  readonly hint?: string;
  /**
   * Where the call failed: `dns`, `connect`, `tls`, `egress_refused`, `timeout`, `busy`, `connection_lost`, `redirect`,
   * `too_large`, `invalid_response`, or the status of the answer, such as `http_401`. Absent when no call was made.
   */
  readonly reason?: string;
  /**
   * When a secret reference is the cause of `secret_unavailable`: the code that the test of the reference reports, or
   * `value_not_valid` when the field does not accept the secret.
   */
  readonly secret_error?: string;
}

export class IdentityPreviewResponse {
  /** Header that names the user. */
  readonly header_name: string;
  /** What it says; null where it is the user's own token. */
  readonly claims: Record<string, unknown> | null;
}

export class HeadersPreviewResponse {
  readonly object: 'mcp-headers-preview';
  /** The headers that the server would get, with secrets masked. */
  readonly headers: Record<string, string>;
  /** null: the server would not receive the user's identity. */
  @ApiProperty({ type: IdentityPreviewResponse, nullable: true })
  readonly identity: IdentityPreviewResponse | null;
}
