import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import { readChatUsage, usageMemberOf } from '../../dialects/openai-chat/chat-usage.js';
import { signedId } from '../call-signatures.js';
import { argumentsIn } from '../exact-arguments.js';
import type { OwnNames } from '../fitted-names.js';
import { isErrorAlone } from '../../failed-answers.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';

/** The facts of the request that its answer depends on. */
export interface AskedMessage {
  readonly provider: string;
  readonly answerId: string;
  /** Whether the caller receives the model's reasoning. */
  readonly thinks: boolean;
  readonly stopSequences: readonly unknown[];
  readonly ownNames: OwnNames;
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/**
 * Translates an answer of a chat to a message.
 * Sources: https://platform.openai.com/docs/api-reference/chat/object and https://docs.anthropic.com/en/api/messages,
 * read 2026-11-28.
 */
export function toMessage(answer: JsonObject, asked: AskedMessage): JsonObject {
  if (isErrorAlone(answer)) throw errorInstead(answer, asked.provider);
  const choice: unknown = Array.isArray(answer['choices']) ? answer['choices'][0] : undefined;
  if (!isObject(choice) || !isObject(choice['message'])) throw invalidAnswer('a chat without choices');
  refuseFailed(answer, choice, asked);
  const { message, finish_reason: reason } = choice;
  const { content: said, refusal, tool_calls: calls } = message;
  const { text, thoughts } = partsOf(said);
  const thought = thoughtsOf(message) + thoughts;
  const words = text + (stringOrUndefined(refusal) ?? '');
  const content = [
    ...(asked.thinks && thought !== '' ? [{ type: 'thinking', thinking: thought, signature: '' }] : []),
    ...(words === '' ? [] : [{ type: 'text', text: words }]),
    ...(Array.isArray(calls) ? calls : []).map((call, index) => toolUseOf(call, index, asked, reason)),
  ];
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  return {
    id: stringOrUndefined(answer['id']) ?? `msg_${asked.answerId}`,
    type: 'message',
    role: 'assistant',
    model: answer['model'],
    content,
    ...stopOf(choice, { hasCalls, hasRefusal: typeof refusal === 'string' && refusal !== '' }, asked),
    usage: toMessageUsage(answer),
  };
}

/**
 * Throws for an answer that its provider gave up. OpenRouter reports the error beside the choices or in one; others set
 * a finish reason.
 */
export function refuseFailed(answer: JsonObject, choice: JsonObject, { provider }: AskedMessage): void {
  const { error = answer['error'], finish_reason: reason } = choice;
  if (isObject(error)) throw errorInstead({ error }, provider);
  if (typeof reason === 'string' && FAILED.has(reason)) throw errorInstead({ error: { code: reason } }, provider);
}

/** Finish reasons of failed answers: the first of Mistral and OpenRouter, the second of DeepSeek. */
const FAILED: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource']);

interface Said {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** vLLM reports the stop sequence that matched in its own member `stop_reason`. */
export function stopOf(
  { finish_reason: reason, stop_reason: sequence }: JsonObject,
  { hasCalls, hasRefusal }: Said,
  { stopSequences }: AskedMessage,
): JsonObject {
  const isSequence = reason === 'stop' && typeof sequence === 'string' && stopSequences.includes(sequence);
  if (isSequence && !hasCalls) return { stop_reason: 'stop_sequence', stop_sequence: sequence };
  // Some providers end an answer with tool calls with `stop`.
  const isCall = hasCalls && reason !== 'length' && reason !== 'content_filter';
  const stopped = isCall ? 'tool_use' : endOf(reason);
  return { stop_reason: hasRefusal && stopped === 'end_turn' ? 'refusal' : stopped, stop_sequence: null };
}

/** The stop reason of an answer without calls. With `tool_use`, the caller would wait for calls. */
function endOf(reason: unknown): string {
  const stopped = STOP_REASONS.get(reason) ?? 'end_turn';
  return stopped === 'tool_use' ? 'end_turn' : stopped;
}

/** Anthropic's input count excludes tokens that are read from a cache or written to it. */
export function toMessageUsage(answer: JsonObject): JsonObject {
  const usage = usageMemberOf(answer);
  const counts = readChatUsage(usage) ?? {};
  const details = isObject(usage) ? usage['completion_tokens_details'] : undefined;
  const thought = isObject(details) ? numberOrUndefined(details['reasoning_tokens']) : undefined;
  return {
    input_tokens: (counts.input ?? 0) + (counts.input_audio ?? 0),
    cache_creation_input_tokens: (counts.cache_write_5m ?? 0) + (counts.cache_write_1h ?? 0),
    cache_read_input_tokens: counts.cache_read ?? 0,
    output_tokens: (counts.output ?? 0) + (counts.output_audio ?? 0) + (counts.output_image ?? 0),
    ...(thought === undefined ? {} : { output_tokens_details: { thinking_tokens: thought } }),
  };
}

/** The reasoning in a message. Providers and servers of open models use different names. */
export function thoughtsOf({ reasoning_content: content, reasoning }: JsonObject): string {
  return stringOrUndefined(content) || stringOrUndefined(reasoning) || '';
}

/** The text and the reasoning of a content, which is a string, or a list at Mistral and Databricks. */
export function partsOf(content: unknown): { readonly text: string; readonly thoughts: string } {
  if (typeof content === 'string') return { text: content, thoughts: '' };
  let text = '';
  let thoughts = '';
  for (const part of Array.isArray(content) ? content.filter(isObject) : []) {
    if (typeof part['text'] === 'string') text += part['text'];
    thoughts += partsOf(part['thinking'] ?? part['summary']).text;
  }
  return { text, thoughts };
}

export function toolIdOf(id: unknown, index: number, { answerId }: AskedMessage): string {
  return typeof id === 'string' && id !== '' ? id : `toolu_${answerId}_${index}`;
}

function toolUseOf(call: unknown, index: number, asked: AskedMessage, reason: unknown): JsonObject {
  const whole = isObject(call) ? call : {};
  const { id, function: called } = whole;
  if (!isObject(called) || typeof called['name'] !== 'string') throw invalidAnswer('a tool call without a name');
  const input = inputOf(called['arguments']);
  // The output cap may cut an answer in the middle of the arguments.
  if (input === undefined && reason !== 'length') throw invalidAnswer('arguments of a tool call that are not JSON');
  return {
    type: 'tool_use',
    id: signedId(toolIdOf(id, index, asked), whole),
    name: asked.ownNames.get(called['name']) ?? called['name'],
    input: input ?? {},
  };
}

/** Some servers send an object instead of its JSON text. */
function inputOf(given: unknown): JsonObject | undefined {
  if (isObject(given)) return given;
  if (given === undefined || given === null || given === '') return {};
  return typeof given === 'string' ? argumentsIn(given) : undefined;
}
