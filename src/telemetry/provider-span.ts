import { currentContext } from './request-context.js';
import { toTraceparent } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan } from './tracing.js';

const NO_HEADERS = {};
const nothing = (): void => undefined;

/** Opens the span of a provider call. With tracing off, the provider is told of the gateway's own span. */
export function startProviderSpan(call: ProviderCallInfo): ProviderSpan {
  const context = currentContext();
  if (context === undefined) return { headers: NO_HEADERS, end: nothing };
  if (context.span !== undefined) return context.span.startProviderCall(call);
  return { headers: { traceparent: toTraceparent(context.trace) }, end: nothing };
}
