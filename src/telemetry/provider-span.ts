import type { RequestContext } from './request-context.js';
import { toTraceparent, traceContext } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan } from './tracing.js';

const nothing = (): void => undefined;

/** The span of a provider call, not started yet. With tracing off, the provider is told of the gateway's own span. */
export function prepareProviderSpan({ span, trace }: RequestContext, call: ProviderCallInfo): ProviderSpan {
  if (span !== undefined) return span.prepareProviderCall(call);
  return { headers: traceContext(toTraceparent(trace), trace), start: nothing, end: nothing };
}
