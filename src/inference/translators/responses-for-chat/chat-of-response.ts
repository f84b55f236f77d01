import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import { type AskedChat, chatHead } from '../chat-to-messages/chat-answer.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';
import { present } from '../request-parts.js';

/**
 * Translates a response to an answer of a chat.
 * Sources: https://platform.openai.com/docs/api-reference/responses/object and …/chat/object, read 2026-11-28.
 */
export function toChatOfResponse(response: JsonObject, asked: AskedChat): JsonObject {
  refuseFailure(response, asked.provider);
  const { output, usage } = response;
  if (!Array.isArray(output)) throw invalidAnswer('a response without output');
  const items = output.filter(isObject);
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => partsIn(content));
  const text = joined(parts, 'text');
  const refusal = joined(parts, 'refusal');
  const thought = items
    .filter(({ type }) => type === 'reasoning')
    .map(({ summary }) => joined(partsIn(summary), 'text'))
    .join('');
  const calls = items.map((item) => callOf(item)).filter((call) => call !== undefined);
  const said = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const finish_reason = finishReasonOf(response, calls.length > 0);
  return {
    ...headOfResponse(response, 'chat.completion', asked),
    choices: [{ index: 0, message: said, logprobs: null, finish_reason }],
    usage: usageOfResponse(usage),
  };
}

/** @throws GatewayError for a response that has failed */
export function refuseFailure(response: JsonObject, provider: string): void {
  const { status, error } = response;
  if (status === 'failed' || isObject(error)) throw errorInstead(isObject(error) ? { error } : response, provider);
}

/** The members that the answer and all chunks of a stream share. */
export function headOfResponse(
  { id, model, created_at: at }: JsonObject,
  object: string,
  asked: AskedChat,
): JsonObject {
  const own = stringOrUndefined(id)?.replace(/^resp_(?:chatcmpl-)?/, '');
  return chatHead({ id: own, model }, object, { ...asked, now: numberOrUndefined(at) ?? asked.now });
}

/** A tool call, with its index in a stream; undefined for another item. */
export function callOf(item: JsonObject, index?: number): JsonObject | undefined {
  const { type, call_id: id, name } = item;
  if (type !== 'function_call' && type !== 'custom_tool_call') return undefined;
  if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
  const work =
    type === 'function_call'
      ? { type: 'function', function: { name, arguments: stringOrUndefined(item['arguments']) ?? '' } }
      : { type: 'custom', custom: { name, input: stringOrUndefined(item['input']) ?? '' } };
  return present({ index, id, ...work });
}

export function finishReasonOf({ incomplete_details: incomplete }: JsonObject, hasCalls: boolean): string {
  const reason = isObject(incomplete) ? incomplete['reason'] : undefined;
  if (reason === 'max_output_tokens') return 'length';
  if (reason === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Both APIs count the same tokens, under different names. */
export function usageOfResponse(usage: unknown): JsonObject {
  const given = isObject(usage) ? usage : {};
  const prompt = numberOrUndefined(given['input_tokens']) ?? 0;
  const completion = numberOrUndefined(given['output_tokens']) ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: numberOrUndefined(given['total_tokens']) ?? prompt + completion,
    ...(isObject(given['input_tokens_details']) ? { prompt_tokens_details: given['input_tokens_details'] } : {}),
    ...(isObject(given['output_tokens_details']) ? { completion_tokens_details: given['output_tokens_details'] } : {}),
  };
}

function partsIn(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function joined(parts: readonly JsonObject[], field: string): string {
  return parts.map((part) => stringOrUndefined(part[field]) ?? '').join('');
}
