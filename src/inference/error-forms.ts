import type { Request } from 'express';
import type { GatewayError } from '../common/errors/gateway.error.js';
import { toMessagesError } from './dialects/anthropic-messages/messages-refusal.js';
import { toGeminiError } from './dialects/gemini/gemini-refusal.js';
import { bedrockErrorHeaders, toBedrockError } from './dialects/bedrock/bedrock-refusal.js';

const ANTHROPIC = /^(?:\/anthropic\/|(?:\/v1)?\/messages(?:\/|$))/;
const GEMINI = /^\/v1beta\//;
/** `/v1/models/…` also belongs to the API of models, but only for reads. */
const GEMINI_CALL = /^\/v1\/models\//;
/** Paths of Vertex, whose messages have Anthropic's format. */
const VERTEX = /^\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\//;
const RAW = /:(?:streamR|r)awPredict$/;
const BEDROCK = /^\/model\//;
/** A path of both APIs, OpenAI's and Anthropic's. */
const MODELS = /^(?:\/v1)?\/models(?:\/|$)/;

/** The error format of paths of other APIs than OpenAI's, also before the caller is authenticated. */
export function errorFormOf({
  method,
  path,
  headers,
  context,
}: Pick<Request, 'method' | 'path' | 'headers' | 'context'>): ((error: GatewayError) => object) | undefined {
  if (BEDROCK.test(path)) return toBedrockError;
  if (VERTEX.test(path) && !RAW.test(path)) return toGeminiError;
  if (GEMINI.test(path) || (method === 'POST' && GEMINI_CALL.test(path))) return toGeminiError;
  const isAnthropic =
    VERTEX.test(path) || ANTHROPIC.test(path) || (headers['anthropic-version'] !== undefined && MODELS.test(path));
  return isAnthropic ? (error) => toMessagesError(error, context?.trace.traceId) : undefined;
}

/** The headers of errors at these paths. */
export function errorHeadersOf({ path }: Pick<Request, 'path'>, error: GatewayError): Readonly<Record<string, string>> {
  return BEDROCK.test(path) ? bedrockErrorHeaders(error) : {};
}
