import type { GatewayError } from '../common/errors/gateway.error.js';
import { toMessagesError } from './dialects/anthropic-messages/messages-refusal.js';

const MESSAGES = /^(?:\/anthropic)?(?:\/v1)?\/messages(?:\/|$)/;

/** The form of errors at addresses of another API than OpenAI's, also before it is known who calls. */
export function errorFormAt(path: string): ((error: GatewayError) => object) | undefined {
  return MESSAGES.test(path) ? toMessagesError : undefined;
}
