import type { JsonObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import { messagesErrorType } from '../dialects/anthropic-messages/messages-refusal.js';
import { inWordsOfLength, isAboutLength, LENGTH_CODE, type ProviderWords, wordsIn } from './provider-words.js';

const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Translates a provider's error to the caller's dialect, and keeps its status and message. */
export function translatedRefusal(answer: UpstreamAnswer, dialect: DialectSlug): UpstreamAnswer {
  const { status, headers } = answer;
  const words = wordsIn(answer);
  const error = dialect === 'anthropic-messages' ? messagesError(status, words) : openaiError(status, words);
  return { status, headers: { ...headers, ...JSON_TYPE }, body: Buffer.from(JSON.stringify(error)) };
}

function messagesError(status: number, words: ProviderWords): JsonObject {
  const message = messageOf(status, words);
  const said = isAboutLength(status, words) ? inWordsOfLength(message) : message;
  return { type: 'error', error: { type: messagesErrorType(status), message: said } };
}

function openaiError(status: number, words: ProviderWords): JsonObject {
  const code = isAboutLength(status, words) ? LENGTH_CODE : (words.code ?? null);
  const type = words.type ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { error: { message: messageOf(status, words), type, param: null, code } };
}

function messageOf(status: number, { message }: ProviderWords): string {
  return message ?? `The provider answered ${status}.`;
}
