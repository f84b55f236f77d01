import type { RequestContext } from './request-context.js';
import { toTraceparent } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan } from './tracing.js';

const nothing = (): void => undefined;

/** Opens the span of a provider call. With tracing off, the provider is told of the gateway's own span. */
export function startProviderSpan({ span, trace }: RequestContext, call: ProviderCallInfo): ProviderSpan {
  if (span !== undefined) return span.startProviderCall(call);
  return { headers: { traceparent: toTraceparent(trace) }, end: nothing };
}
