import type { Request } from 'express';
import type { GatewayError } from '../common/errors/gateway.error.js';
import { toMessagesError } from './dialects/anthropic-messages/messages-refusal.js';
import { toGeminiError } from './dialects/gemini/gemini-refusal.js';
import { bedrockErrorHeaders, toBedrockError } from './dialects/bedrock/bedrock-refusal.js';

const ANTHROPIC = /^(?:\/anthropic\/|(?:\/v1)?\/messages(?:\/|$))/;
const GEMINI = /^\/v1beta\//;
/** To which the API of models answers reads alone. */
const GEMINI_CALL = /^\/v1\/models\//;
/** Of Vertex, whose messages are in Anthropic's form. */
const VERTEX = /^\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\//;
const RAW = /:(?:streamR|r)awPredict$/;
const BEDROCK = /^\/model\//;
/** At the same address in both APIs. */
const MODELS = /^(?:\/v1)?\/models(?:\/|$)/;

/** The form of errors at addresses of another API than OpenAI's, also before it is known who calls. */
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

/** The headers of errors at such addresses. */
export function errorHeadersOf({ path }: Pick<Request, 'path'>, error: GatewayError): Readonly<Record<string, string>> {
  return BEDROCK.test(path) ? bedrockErrorHeaders(error) : {};
}
