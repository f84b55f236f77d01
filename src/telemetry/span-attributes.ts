import type { Attributes } from '@opentelemetry/api';
import type { TraceHeaders } from './trace-headers.js';
import type { ProviderCallInfo, RequestOutcome } from './tracing.js';

// Names of OpenTelemetry's semantic conventions for HTTP and for generative AI
// (https://github.com/open-telemetry/semantic-conventions-genai), read 2026-11-21; `gateway.*` is ours.

/** Well-known values of `gen_ai.provider.name`, and other established ones. A provider that is not listed goes by its slug. */
const GEN_AI_PROVIDER_NAMES: ReadonlyMap<string, string> = new Map([
  ['cohere', 'cohere'],
  ['openai', 'openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['azure-ai', 'azure.ai.inference'],
  ['bedrock', 'aws.bedrock'],
  ['voyage', 'voyageai'],
]);

/** Neither the address as it was sent (it holds ids and junk) nor any content of the request is ever an attribute. */
export function requestAttributes(trace: TraceHeaders, outcome: RequestOutcome): Attributes {
  const { facts, status } = outcome;
  const attributes: Attributes = {
    'http.request.method': outcome.method,
    'http.route': outcome.route,
    'http.response.status_code': status,
    'url.scheme': outcome.scheme,
    'error.type': facts.error_code ?? (status >= 400 ? String(status) : undefined),
    'gateway.trace_id': trace.traceId,
    'gateway.span_id': trace.spanId,
    'gateway.parent_span_id': trace.parentSpanId,
    'gateway.provider': facts.provider,
    'gateway.virtual_key': facts.virtual_key,
    'gateway.usage.search_units': facts.search_units,
    'gateway.usage.total_tokens': facts.total_tokens,
  };
  for (const [key, value] of Object.entries(outcome.metadata)) attributes[`gateway.metadata.${key}`] = value;
  return attributes;
}

export function providerCallAttributes({ operation, provider, model }: ProviderCallInfo): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': GEN_AI_PROVIDER_NAMES.get(provider) ?? provider,
    'gen_ai.request.model': model,
  };
}

/** `outcome` as in ProviderSpan.end. */
export function providerOutcomeAttributes(outcome: string): Attributes {
  const status = /^\d{3}$/.test(outcome) ? Number(outcome) : undefined;
  return {
    'http.response.status_code': status,
    'error.type': status === undefined || status >= 400 ? outcome : undefined,
  };
}
