import type { LogFields } from './log-fields.js';
import type { Metadata, TraceContext, TraceHeaders } from './trace-headers.js';

export interface ProviderCallInfo {
  /** `rerank` */
  readonly operation: string;
  /** Slug of the provider. */
  readonly provider: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
}

/** A message to an MCP server, as far as it is known. */
export interface McpCallInfo {
  /** Slug of the server. */
  readonly server: string;
  /** What is called where there is no `rpcMethod`: `GET`, `DELETE`, `response`. */
  readonly label: string;
  readonly rpcMethod: string | undefined;
  readonly tool: string | undefined;
}

export interface ProviderSpan {
  /** Trace context for the provider. */
  readonly headers: TraceContext;
  /** Called once, when the call is made. Nothing is told of one that is not. */
  start(): void;
  /** `outcome`: the provider's status, or the code of the failure. */
  end(outcome: string): void;
}

export interface McpCallSpan {
  /** Trace context for the server. */
  readonly headers: TraceContext;
  end(outcome: CallOutcome): void;
}

export interface CallOutcome {
  /** As answered. */
  readonly status: number | undefined;
  /** Code of what went wrong besides. */
  readonly error: string | undefined;
}

/** What is known of a request when it has ended. */
export interface RequestOutcome {
  readonly method: string;
  readonly scheme: string;
  /** Pattern of the matched route. */
  readonly route: string | undefined;
  /** As in the log: 499 when the client left first. */
  readonly status: number;
  /** Whether the answer had begun and did not come to its end, by no doing of the client. */
  readonly isBrokenOff: boolean;
  readonly facts: Readonly<Partial<LogFields>>;
  readonly metadata: Metadata;
}

export interface RequestSpan {
  prepareProviderCall(call: ProviderCallInfo): ProviderSpan;
  /** Tells what the request is for. */
  noteMcpCall(call: McpCallInfo): void;
  startMcpCall(call: McpCallInfo): McpCallSpan;
  end(outcome: RequestOutcome): void;
}

/** Where the spans of requests go. */
export abstract class Tracing {
  /** Undefined when nothing is traced, which then costs nothing further. */
  abstract startRequest(method: string, trace: TraceHeaders): RequestSpan | undefined;
  /** Sends what is left, within a bounded time. Never rejects. */
  abstract close(): Promise<void>;
}

export class NoTracing extends Tracing {
  override startRequest(): undefined {
    return undefined;
  }

  override async close(): Promise<void> {}
}
