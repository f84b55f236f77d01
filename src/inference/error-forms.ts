import type { Request } from 'express';
import type { GatewayError } from '../common/errors/gateway.error.js';
import { toMessagesError } from './dialects/anthropic-messages/messages-refusal.js';

const ANTHROPIC = /^(?:\/anthropic\/|(?:\/v1)?\/messages(?:\/|$))/;
/** At the same address in both APIs. */
const MODELS = /^(?:\/v1)?\/models(?:\/|$)/;

/** The form of errors at addresses of another API than OpenAI's, also before it is known who calls. */
export function errorFormOf({
  path,
  headers,
  context,
}: Pick<Request, 'path' | 'headers' | 'context'>): ((error: GatewayError) => object) | undefined {
  const isAnthropic = ANTHROPIC.test(path) || (headers['anthropic-version'] !== undefined && MODELS.test(path));
  return isAnthropic ? (error) => toMessagesError(error, context?.trace.traceId) : undefined;
}
