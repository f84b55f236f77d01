import type { RequestFacts } from './request-facts.js';
import type { Metadata, TraceHeaders } from './trace-headers.js';

export interface ProviderCallInfo {
  /** `rerank` */
  readonly operation: string;
  /** Slug of the provider. */
  readonly provider: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
}

export interface ProviderSpan {
  /** Trace context for the provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the call is made. Nothing is told of one that is not. */
  start(): void;
  /** `outcome`: the provider's status, or the code of the failure. */
  end(outcome: string): void;
}

/** What is known of a request when it has ended. */
export interface RequestOutcome {
  readonly method: string;
  readonly scheme: string;
  /** Pattern of the matched route. */
  readonly route: string | undefined;
  /** As in the log: 499 when the client left first. */
  readonly status: number;
  readonly facts: Readonly<Partial<RequestFacts>>;
  readonly metadata: Metadata;
}

export interface RequestSpan {
  prepareProviderCall(call: ProviderCallInfo): ProviderSpan;
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
