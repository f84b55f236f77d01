import { currentContext } from './request-context.js';
import { toTraceparent } from './trace-headers.js';

export interface ProviderSpan {
  /** Trace context for the provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** `outcome`: the provider's status, or the code of the failure. */
  end(outcome: string): void;
}

/** Opens the span of a provider call. */
export function startProviderSpan(_call: {
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
}): ProviderSpan {
  const trace = currentContext()?.trace;
  return { headers: trace === undefined ? {} : { traceparent: toTraceparent(trace) }, end: () => undefined };
}
