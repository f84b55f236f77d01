import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { type ProviderErrorText, readErrorValue, readProviderError } from '../../upstream/providers/error-text.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';

const MAX_MESSAGE = 2_000;
const MAX_NAME = 100;
/** The provider's status. Its answer is unusable all the same, so another provider may be tried. */
const SUCCESS = { status: 200 } as const;

/** A provider's description of a failure, in any format. */
export interface ProviderWords {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
}

/** Cuts the texts of a provider's error, which are read as for other calls. */
function providerWords({ message, type, code }: ProviderErrorText): ProviderWords {
  return { message: cut(message, MAX_MESSAGE), type: cut(type, MAX_NAME), code: cut(code, MAX_NAME) };
}

/** Matches errors about the length of the input, which clients can shorten themselves. */
const TOO_LONG =
  /context_length|context length|context window|prompt is too long|maximum context|too many tokens|input is too long/i;

/** @param status 429 is excluded: Bedrock's rate limit also mentions too many tokens */
export function isAboutLength(status: number, { message, type, code }: ProviderWords): boolean {
  return status !== 429 && [message, type, code].some((text) => text !== undefined && TOO_LONG.test(text));
}

/** Codex compacts the conversation when it receives this code. */
export const LENGTH_CODE = 'context_length_exceeded';
/** Claude Code looks for these words. */
const LENGTH_WORDS = 'prompt is too long';

export function inWordsOfLength(message: string): string {
  return message.toLowerCase().includes(LENGTH_WORDS) ? message : `${LENGTH_WORDS}: ${message}`;
}

const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|insufficient_quota|too_many_requests/, 429],
  [/overloaded/, 529],
  [/timeout/, 504],
  [/invalid_request|invalid_prompt|context_length|content_filter|not_found|too_large/, 400],
];

/** Creates the gateway's error for a provider's error that arrived with a status of success, or in a stream. */
export function errorInstead(message: JsonObject, provider: string): GatewayError {
  const words = providerWords(readErrorValue(message));
  const error = isObject(message['error']) ? message['error'] : message;
  const named = statusOfWords(words, error);
  const isTooLong = isAboutLength(named, words);
  const status = isTooLong ? 400 : named;
  const said = { status, code: isTooLong ? LENGTH_CODE : words.code, type: words.type };
  const text = isTooLong ? inWordsOfLength(words.message ?? LENGTH_CODE) : words.message;
  const options = {
    reason: `${provider} reported an error in an answer of success`,
    provider: said,
    ...(text === undefined ? {} : { message: text }),
  };
  if (status === 429) return new GatewayError('provider_rate_limited', options);
  return status < 500
    ? new GatewayError('provider_rejected', { ...options, status })
    : new GatewayError('provider_failed', options);
}

export function invalidAnswer(reason: string): GatewayError {
  return new GatewayError('provider_invalid_response', { reason, provider: SUCCESS });
}

/** The error for a stream without its end. */
export function brokenOff(): GatewayError {
  return new GatewayError('provider_failed', {
    message: 'The stream of the provider ended before its answer was complete.',
    reason: 'a stream without its end',
    provider: SUCCESS,
  });
}

export function wordsIn(answer: UpstreamAnswer): ProviderWords {
  return providerWords(readProviderError(answer));
}

/** Unwraps a list of one item, since Google's servers put an error into a list. */
export function withoutList(message: unknown): unknown {
  return Array.isArray(message) && message.length === 1 ? message[0] : message;
}

function cut(text: string | undefined, length: number): string | undefined {
  return text === undefined || text === '' ? undefined : text.slice(0, length);
}

/** The status that an error in a stream or in a successful answer would have had. */
function statusOfWords({ type, code }: ProviderWords, error: JsonObject): number {
  // Google sends `status` as a word, and the number as `code`.
  const numbers = [error['status'], error['status_code'], code].map((value) => Number(value ?? NaN));
  const given = numbers.find((value) => Number.isInteger(value) && value >= 400 && value <= 599);
  if (given !== undefined) return given;
  const word = `${type} ${code}`;
  return STATUSES.find(([pattern]) => pattern.test(word))?.[1] ?? 502;
}
