import type { Metadata } from './trace-headers.js';
import type { LogFields } from './tracing.js';

/** A request that is over. */
export interface EndedRequest {
  readonly traceId: string;
  readonly method: string;
  /** Pattern of the matched route. */
  readonly route: string;
  /** As in the log: 499 when the client disconnected first. */
  readonly status: number;
  readonly durationMs: number;
  readonly facts: Readonly<LogFields>;
  readonly metadata: Metadata;
}

/** Called once for each request, when it is over. Must not throw. */
export type RequestSink = (request: EndedRequest) => void;
