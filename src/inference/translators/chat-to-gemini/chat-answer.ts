import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import { signedId } from '../call-signatures.js';
import { type AskedChat, chatHead } from '../chat-to-messages/chat-answer.js';
import type { OwnNames } from '../fitted-names.js';
import { isErrorAlone } from '../../failed-answers.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';

const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['MAX_TOKENS', 'length'],
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE', 'IMAGE_SAFETY'].map(
    (reason) => [reason, 'content_filter'] as const,
  ),
]);
/** Finish reasons of a model that failed to write a tool call. */
const FAILED = /^(?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS)$/;

/** The facts of the request that its answer depends on. */
export interface AskedGemini extends AskedChat {
  readonly ownNames: OwnNames;
}

/** The content of an answer, or of a part of it. */
export interface Said {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly JsonObject[];
}

/**
 * Translates an answer of Gemini to one of a chat.
 * Sources: https://ai.google.dev/api/generate-content and https://platform.openai.com/docs/api-reference/chat/object,
 * read 2026-11-29.
 */
export function toChatAnswer(answer: JsonObject, asked: AskedGemini): JsonObject {
  const { said, reason } = readGemini(answer, 0, asked);
  if (reason === undefined) throw invalidAnswer('an answer that does not say why it has ended');
  const { text, thought, calls } = said;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...headOf(answer, 'chat.completion', asked),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(reason, calls.length > 0) }],
    usage: toChatUsage(answer['usageMetadata']),
  };
}

export function headOf(
  { responseId: id, modelVersion: model }: JsonObject,
  object: string,
  asked: AskedChat,
): JsonObject {
  return chatHead({ id, model }, object, asked);
}

/**
 * Reads the content and the finish reason of an answer or an event.
 * @param callCount the number of earlier calls in the answer
 * @throws GatewayError for an error, and for an invalid answer
 */
export function readGemini(
  answer: JsonObject,
  callCount: number,
  asked: AskedGemini,
): { readonly said: Said; readonly reason: string | undefined } {
  if (isErrorAlone(answer)) throw errorInstead(answer, asked.provider);
  const { candidates, promptFeedback: feedback } = answer;
  const candidate: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  const block = isObject(feedback) ? stringOrUndefined(feedback['blockReason']) : undefined;
  if (!isObject(candidate)) return { said: { text: '', thought: '', calls: [] }, reason: block && 'SAFETY' };
  const reason = stringOrUndefined(candidate['finishReason']);
  if (reason !== undefined && FAILED.test(reason)) {
    const message = stringOrUndefined(candidate['finishMessage']) ?? reason;
    throw errorInstead({ error: { message, type: reason } }, asked.provider);
  }
  const { content } = candidate;
  const parts = isObject(content) && Array.isArray(content['parts']) ? content['parts'].filter(isObject) : [];
  return { said: saidIn(parts, callCount, asked), reason };
}

function saidIn(parts: readonly JsonObject[], callCount: number, { answerId, ownNames }: AskedGemini): Said {
  let text = '';
  let thought = '';
  const calls: JsonObject[] = [];
  for (const part of parts) {
    const { text: words, thought: isThought, functionCall: called, thoughtSignature: signature } = part;
    if (typeof words === 'string' && isThought === true) thought += words;
    else if (typeof words === 'string') text += words;
    if (!isObject(called)) continue;
    const name = called['name'];
    if (typeof name !== 'string') throw invalidAnswer('a tool call without a name');
    const id = stringOrUndefined(called['id']) || `call_${answerId}_${callCount + calls.length}`;
    const args = stringifyLongNumbers(called['args'] ?? {});
    const signed = signedId(id, { extra_content: { google: { thought_signature: signature } } });
    calls.push({ id: signed, type: 'function', function: { name: ownNames.get(name) ?? name, arguments: args } });
  }
  return { text, thought, calls };
}

export function finishReasonOf(reason: string, hasCalls: boolean): string {
  return FINISH_REASONS.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop');
}

/** Gemini counts thinking tokens beside the candidates, and cached input within the prompt. */
export function toChatUsage(given: unknown): JsonObject {
  const usage = isObject(given) ? given : {};
  const figure = (name: string): number => numberOrUndefined(usage[name]) ?? 0;
  const prompt = figure('promptTokenCount') + figure('toolUsePromptTokenCount');
  const thought = figure('thoughtsTokenCount');
  const completion = figure('candidatesTokenCount') + thought;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: figure('cachedContentTokenCount'), cache_write_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: thought },
  };
}
