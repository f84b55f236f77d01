import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_ID,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
} from '@opentelemetry/semantic-conventions/incubating';
import { genAiOperation, genAiProvider, type ModelAnswer } from './gen-ai.js';
import type { TraceHeaders } from './trace-headers.js';
import type { CallOutcome, McpCallInfo, ProviderCallInfo, RequestOutcome } from './tracing.js';

// Names of OpenTelemetry's semantic conventions for HTTP, for generative AI and for MCP
// (https://github.com/open-telemetry/semantic-conventions-genai), read 2026-11-22; `gateway.*` is ours.

/**
 * Longer than any real name. Callers can send names as long as a body, and thousands of spans may wait for the
 * collector.
 */
const MAX_NAME_LENGTH = 512;

/** Never records the path as sent (it holds ids and junk) nor any content of the request. */
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
    'gateway.failed_targets': facts.failed_targets?.map((one) => `${one.virtual_key}: ${one.error_code}`),
    'gateway.mcp_server': facts.mcp_server,
    'gateway.usage.search_units': facts.search_units,
    'gateway.usage.total_tokens': facts.total_tokens,
  };
  for (const [unit, quantity] of Object.entries(facts.quantities ?? {})) {
    attributes[`gateway.quantity.${unit}`] = quantity;
  }
  for (const [key, value] of Object.entries(outcome.metadata)) attributes[`gateway.metadata.${key}`] = value;
  return attributes;
}

/** Copies through bytes, since a slice of a string keeps the whole string in memory. */
export function shortened(name: string | undefined): string | undefined {
  if (name === undefined || name.length <= MAX_NAME_LENGTH) return name;
  return Buffer.from(name.slice(0, MAX_NAME_LENGTH)).toString();
}

export function providerCallAttributes({ operation, provider, model }: ProviderCallInfo): Attributes {
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: genAiOperation(operation),
    [ATTR_GEN_AI_PROVIDER_NAME]: genAiProvider(provider),
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
  };
}

export function modelAnswerAttributes(answer: ModelAnswer): Attributes {
  const { finishReason, firstTokenMs } = answer;
  return {
    [ATTR_GEN_AI_RESPONSE_ID]: answer.id,
    [ATTR_GEN_AI_RESPONSE_MODEL]: answer.model,
    [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: finishReason === undefined ? undefined : [finishReason],
    [ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]: firstTokenMs === undefined ? undefined : firstTokenMs / 1_000,
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: answer.inputTokens,
    [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: answer.cacheReadTokens,
    [ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: answer.cacheWriteTokens,
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: answer.outputTokens,
  };
}

/** Leaves out the session id, which the conventions include: it can identify its holder as the user. */
export function mcpCallAttributes({ server, rpcMethod, tool }: McpCallInfo): Attributes {
  return {
    'gateway.mcp_server': server,
    'mcp.method.name': shortened(rpcMethod),
    [ATTR_GEN_AI_OPERATION_NAME]: tool === undefined ? undefined : 'execute_tool',
    [ATTR_GEN_AI_TOOL_NAME]: shortened(tool),
  };
}

/** `outcome` as in ProviderSpan.end. */
export function toCallOutcome(outcome: string): CallOutcome {
  return /^\d{3}$/.test(outcome)
    ? { status: Number(outcome), error: undefined }
    : { status: undefined, error: outcome };
}

export function callOutcomeAttributes({ status, error, rpcCode }: CallOutcome): Attributes {
  const isRefused = status !== undefined && status >= 400;
  return {
    'http.response.status_code': status,
    'rpc.response.status_code': rpcCode === undefined ? undefined : String(rpcCode),
    'error.type': error ?? (isRefused ? String(status) : undefined),
  };
}
