import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import { isErrorAlone } from '../../failed-answers.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';

/** The facts of the request that its answer depends on. */
export interface AskedChat {
  readonly provider: string;
  readonly answerId: string;
  readonly now: number;
  /** Whether the caller requested the usage of its stream. */
  readonly asksForUsage: boolean;
}

const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/**
 * Translates a message to an answer of a chat.
 * Sources: https://docs.anthropic.com/en/api/messages and https://platform.openai.com/docs/api-reference/chat/object,
 * read 2026-11-28.
 */
export function toChatAnswer(message: JsonObject, asked: AskedChat): JsonObject {
  if (isErrorAlone(message)) throw errorInstead(message, asked.provider);
  const { content, stop_reason: reason, usage } = message;
  if (!Array.isArray(content)) throw invalidAnswer('a message without content');
  const blocks = content.filter(isObject);
  const text = textOf(blocks, 'text');
  const thought = textOf(blocks, 'thinking');
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(callOf);
  const said = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...chatHead(message, 'chat.completion', asked),
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: finishReasonOf(reason, calls.length > 0) }],
    usage: toChatUsage(isObject(usage) ? usage : {}),
  };
}

/** The members that an answer and all chunks of a stream share. */
export function chatHead({ id, model }: JsonObject, object: string, { answerId, now }: AskedChat): JsonObject {
  const own = stringOrUndefined(id) ?? answerId;
  return { id: `chatcmpl-${own}`, object, created: now, model: stringOrUndefined(model) ?? '' };
}

/** One chunk of a stream. Its usage is null until the last chunk, when the client asks for usage. */
export function chatChunk(
  head: JsonObject | undefined,
  { asksForUsage }: Pick<AskedChat, 'asksForUsage'>,
  delta: JsonObject,
  finish_reason: string | null = null,
): JsonObject {
  const usage = asksForUsage ? { usage: null } : {};
  return { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...usage };
}

/**
 * `tool_use` without calls becomes `stop`: calls of the provider's own tools are not in a chat, and the caller would
 * wait for them.
 */
export function finishReasonOf(reason: unknown, hasCalls: boolean): string {
  return reason === 'tool_use' && !hasCalls ? 'stop' : (FINISH_REASONS.get(reason) ?? 'stop');
}

/** OpenAI's prompt count includes tokens that are read from a cache or written to it. */
export function toChatUsage(usage: JsonObject): JsonObject {
  const figure = (name: string): number => numberOrUndefined(usage[name]) ?? 0;
  const cached = figure('cache_read_input_tokens');
  const written = figure('cache_creation_input_tokens');
  const prompt = figure('input_tokens') + cached + written;
  const completion = figure('output_tokens');
  const details = usage['output_tokens_details'];
  const thought = isObject(details) ? numberOrUndefined(details['thinking_tokens']) : undefined;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(thought === undefined ? {} : { completion_tokens_details: { reasoning_tokens: thought } }),
  };
}

function textOf(blocks: readonly JsonObject[], kind: 'text' | 'thinking'): string {
  return blocks
    .filter(({ type }) => type === kind)
    .map((block) => stringOrUndefined(block[kind]) ?? '')
    .join('');
}

function callOf({ id, name, input }: JsonObject): JsonObject {
  if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
  return { id, type: 'function', function: { name, arguments: stringifyLongNumbers(input ?? {}) } };
}
