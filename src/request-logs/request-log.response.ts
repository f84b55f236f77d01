import { ApiProperty } from '@nestjs/swagger';
import { fromScaled } from '../common/money/decimal.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { LOGGED_OUTCOMES, type LoggedOutcome } from '../telemetry/logged-outcome.js';
import type { RequestLog } from './request-log.entity.js';

const NANO_DECIMALS = 9;

export class RequestLogResponse {
  readonly id: string;
  readonly object: 'log';
  /** The workspace of the caller, or of the virtual key or server that it used; null: the whole organisation. */
  readonly workspace_id: string | null;
  /** `api_key`, or how else the caller came. */
  readonly actor_type: string;
  /** Id of the key, or the user of the token. */
  readonly actor_id: string;
  /** The user of a key, or the user that came to an MCP server with a token. */
  readonly user_id: string | null;
  /** `metadata.session` of the call. */
  readonly session: string | null;
  /** HTTP method of the call. */
  readonly method: string;
  /** The pattern of its address. */
  readonly route: string;
  /** Slug of the virtual key that the call used last. */
  readonly virtual_key: string | null;
  /** The provider of that virtual key. */
  readonly provider: string | null;
  /** The model that the provider was asked for. For a model route, it is the model of the target. */
  readonly model: string | null;
  /** The model as the caller wrote it, such as the name of a model route, or `@slug/model`. */
  readonly model_requested: string | null;
  /** Slug of the MCP server; null: a call of a provider. */
  readonly mcp_server: string | null;
  /** Method of MCP, for example `tools/call`. */
  readonly mcp_method: string | null;
  /** 499 when the client disconnected first. */
  readonly status: number;
  /** Code of the gateway's error; null: there was none. */
  readonly error_code: string | null;
  /**
   * How the call ended, which its status may not say. `tool_error`: the MCP tool reported that it failed. `rpc_error`: the MCP
   * server returned an error. `provider_error`: the provider returned an error, also instead of the rest of a stream.
   * `gateway_error`: the gateway refused the call. `cancelled`: the client disconnected first. `unknown`: the answer of the MCP
   * server did not pass here.
   */
  @ApiProperty({ enum: LOGGED_OUTCOMES })
  readonly outcome: LoggedOutcome;
  /** Tokens, as limits of type `tokens` count them. */
  readonly tokens: number | null;
  /** US dollars, of all attempts. */
  @ApiProperty({ type: 'number', format: 'double', nullable: true })
  readonly cost: number | null;
  /** From the arrival of the request to the end of its answer. */
  readonly duration_ms: number;
  /** The time of all attempts at the provider. */
  readonly upstream_ms: number | null;
  /** The time until the first output of the model; null for calls that are not streams. */
  readonly first_token_ms: number | null;
  /** How often the provider was called. */
  readonly upstream_attempts: number | null;
  /** Until when `GET /v1/logs/{id}/bodies` has what was sent and answered, in Unix seconds; null: it is not kept. */
  readonly bodies_until: number | null;
  /** Finds the call in the gateway's log, and in traces. */
  readonly trace_id: string;
  /** What the caller and its key say of the call. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  readonly metadata: Readonly<Record<string, string>>;
  /** When it ended, in Unix seconds. */
  readonly created_at: number;
}

export class RequestLogListResponse {
  readonly object: 'list';
  readonly data: RequestLogResponse[];
  /** Number of entries on all pages; null where it was not counted (`include_total`). */
  readonly total: number | null;
  /** Whether there is a page after this one. */
  readonly has_more: boolean;
}

export function toRequestLogResponse(log: RequestLog): RequestLogResponse {
  return {
    id: log.id,
    object: 'log',
    workspace_id: log.workspaceId,
    actor_type: log.actorType,
    actor_id: log.actorId,
    user_id: log.userId,
    session: log.session,
    method: log.method,
    route: log.route,
    virtual_key: log.virtualKey,
    provider: log.provider,
    model: log.model,
    model_requested: log.modelRequested,
    mcp_server: log.mcpServer,
    mcp_method: log.mcpMethod,
    status: log.status,
    error_code: log.errorCode,
    outcome: log.outcome,
    tokens: log.tokens === null ? null : Number(log.tokens),
    cost: log.costNano === null ? null : fromScaled(BigInt(log.costNano), NANO_DECIMALS),
    duration_ms: log.durationMs,
    upstream_ms: log.upstreamMs,
    first_token_ms: log.firstTokenMs,
    upstream_attempts: log.upstreamAttempts,
    bodies_until: log.bodiesUntil === null ? null : toUnixSeconds(log.bodiesUntil),
    trace_id: log.traceId,
    metadata: log.metadata,
    created_at: toUnixSeconds(log.createdAt),
  };
}
