import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../../common/time/unix-time.js';
import { CALL_OUTCOMES, type CallOutcome } from './call-outcome.types.js';
import type { McpCall } from './mcp-call.entity.js';

export class McpCallResponse {
  readonly id: string;
  readonly object: 'mcp-call';
  /** The workspace of the caller; null: the whole organisation. */
  readonly workspace_id: string | null;
  /** `api_key`, `external`, `oauth`, or `administrator` for a tool that was tried out without a key. */
  readonly caller_type: string;
  /** Id of the key, or the subject of the token (without one: its username or client). */
  readonly caller_id: string;
  /** The `sub` claim that servers receive. */
  readonly user_id: string | null;
  /** The method of the HTTP request. */
  readonly http_method: string;
  /** The method of the MCP message, for example `tools/call`. */
  readonly rpc_method: string | null;
  /** The first tool of a batch; for a refused call, the disabled tool. */
  readonly tool: string | null;
  /** Status that the client received; 499 when it disconnected first. */
  readonly status: number;
  /** Code of the gateway's own error. */
  readonly error_code: string | null;
  /**
   * How the call ended. `tool_error`: the tool reported that it failed. `rpc_error`: the server returned an error.
   * `gateway_error`: the gateway refused the call, or received no usable answer. `unknown`: on the older transport, the answer
   * did not pass this gateway in time.
   */
  @ApiProperty({ enum: CALL_OUTCOMES })
  readonly outcome: CallOutcome;
  /** The code of the server's JSON-RPC error. */
  readonly rpc_error_code: number | null;
  /** How long the first byte of the response took; null: none came. */
  readonly first_byte_ms: number | null;
  /** How long the call took. */
  readonly total_ms: number;
  /** The size of the request body, also of a refused one. */
  readonly bytes_in: number;
  /** The size of the response body that the client received. */
  readonly bytes_out: number;
  /** The trace id of the request. */
  readonly trace_id: string | null;
  /** Unix seconds. */
  readonly created_at: number;
}

export class McpCallListResponse {
  readonly object: 'list';
  readonly data: McpCallResponse[];
  /** Number of entries on all pages; null where it was not counted (`include_total`). */
  readonly total: number | null;
  /** Whether there is a page after this one. */
  readonly has_more: boolean;
}

export function toMcpCallResponse(call: McpCall): McpCallResponse {
  return {
    id: call.id,
    object: 'mcp-call',
    workspace_id: call.workspaceId,
    caller_type: call.callerType,
    caller_id: call.callerId,
    user_id: call.userId,
    http_method: call.httpMethod,
    rpc_method: call.rpcMethod,
    tool: call.tool,
    status: call.status,
    error_code: call.errorCode,
    outcome: call.outcome,
    rpc_error_code: call.rpcErrorCode,
    first_byte_ms: call.firstByteMs,
    total_ms: call.totalMs,
    bytes_in: Number(call.bytesIn),
    bytes_out: Number(call.bytesOut),
    trace_id: call.traceId,
    created_at: toUnixSeconds(call.createdAt),
  };
}
