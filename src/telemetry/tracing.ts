import type { ModelAnswer } from './gen-ai.js';
import type { LoggedOutcome } from './logged-outcome.js';
import type { Metadata, TraceContext, TraceHeaders } from './trace-headers.js';

export interface ProviderCallInfo {
  /** `rerank` */
  readonly operation: string;
  /** Slug of the provider. */
  readonly provider: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
}

/** The known parts of a message to an MCP server. */
export interface McpCallInfo {
  /** Slug of the server. */
  readonly server: string;
  /** The name of the span without an `rpcMethod`: `GET`, `DELETE`, `response`. */
  readonly label: string;
  readonly rpcMethod: string | undefined;
  readonly tool: string | undefined;
}

export interface ProviderSpan {
  /** Trace context for the provider. */
  readonly headers: TraceContext;
  /** Called once, when the call is made. Without it, no span is exported. */
  start(): void;
  /** `outcome`: the provider's status, or the code of the failure. */
  end(outcome: string, answer?: ModelAnswer): void;
}

export interface McpCallSpan {
  /** Trace context for the server. */
  readonly headers: TraceContext;
  end(outcome: CallOutcome): void;
}

export interface CallOutcome {
  /** The status that the client received. */
  readonly status: number | undefined;
  /** The error code, if any. */
  readonly error: string | undefined;
  /** The code of a JSON-RPC error in the answer. */
  readonly rpcCode?: number | undefined;
}

/** The result of a finished request. */
export interface RequestOutcome {
  readonly method: string;
  readonly scheme: string;
  /** Pattern of the matched route. */
  readonly route: string | undefined;
  /** As in the log: 499 when the client disconnected first. */
  readonly status: number;
  /** Whether the gateway aborted the response after its head was sent. */
  readonly isBrokenOff: boolean;
  readonly facts: Readonly<Partial<LogFields>>;
  readonly metadata: Metadata;
}

export interface RequestSpan {
  /** Moves the span to another trace. Call it before the first call of the request starts. */
  follow(trace: TraceHeaders): void;
  prepareProviderCall(call: ProviderCallInfo): ProviderSpan;
  /** Sets the attributes of an MCP call on the span of the request. */
  noteMcpCall(call: McpCallInfo): void;
  startMcpCall(call: McpCallInfo): McpCallSpan;
  end(outcome: RequestOutcome): void;
}

/** Creates and exports the spans of requests. */
export abstract class Tracing {
  /** Returns undefined when tracing is off, at no further cost. */
  abstract startRequest(method: string, trace: TraceHeaders): RequestSpan | undefined;
  /** Exports the remaining spans within a time limit. Never rejects. */
  abstract close(): Promise<void>;
}

export class NoTracing extends Tracing {
  override startRequest(): undefined {
    return undefined;
  }

  override async close(): Promise<void> {}
}

export interface FailedTargetNote {
  readonly virtual_key: string;
  readonly model: string;
  readonly error_code: string;
}

/**
 * Fields that a request collects for its log line and its span. Ids and counts only. All fields exist from the start,
 * so that V8 gives all instances one shape, which is faster.
 */
export class LogFields {
  organisation_id: string | undefined = undefined;
  workspace_id: string | null | undefined = undefined;
  actor_type: string | undefined = undefined;
  actor_id: string | undefined = undefined;
  /** The user of the caller's key, or the caller of an MCP server. Not in the log line: the log of calls has it. */
  user_id: string | undefined = undefined;
  virtual_key: string | undefined = undefined;
  provider: string | undefined = undefined;
  model: string | undefined = undefined;
  /** The targets of a model route that failed, and handed the call to the one that is named above. */
  model_requested: string | undefined = undefined;
  failed_targets: readonly FailedTargetNote[] | undefined = undefined;
  documents: number | undefined = undefined;
  search_units: number | undefined = undefined;
  total_tokens: number | undefined = undefined;
  /** What was charged by unit, of all attempts together. */
  quantities: Readonly<Record<string, number>> | undefined = undefined;
  /** Billionths of a US dollar, of all attempts together. */
  cost_nano: number | undefined = undefined;
  /** Of a stream: milliseconds until the first output of the model. */
  first_token_ms: number | undefined = undefined;
  /** Output of the model by the second, from its first token on, or of the whole call. */
  tokens_per_second: number | undefined = undefined;
  /** Why the answer of the model ended, in the provider's words. */
  finish_reason: string | undefined = undefined;
  /** The provider reported more than the bound: `reported` or `capped` is what was charged. */
  usage_above_bound: string | undefined = undefined;
  /** The decision of the usage limits; undefined where none applies. */
  limit_decision: string | undefined = undefined;
  /** The decision that a monitoring limit would have made, and its id. */
  limit_monitored: string | undefined = undefined;
  limit_monitored_policy: string | undefined = undefined;
  mcp_server: string | undefined = undefined;
  mcp_method: string | undefined = undefined;
  upstream_status: number | undefined = undefined;
  upstream_attempts: number | undefined = undefined;
  upstream_ms: number | undefined = undefined;
  /** Of all attempts: the wait for a connection, which `upstream_ms` leaves out. */
  upstream_queue_ms: number | undefined = undefined;
  /** The provider's request id of the last attempt. */
  upstream_request_id: string | undefined = undefined;
  error_code: string | undefined = undefined;
  error_reason: string | undefined = undefined;
  /** Where it is known better than by status and error code. Not in the log line, which is written before it is known. */
  outcome: LoggedOutcome | undefined = undefined;
}
