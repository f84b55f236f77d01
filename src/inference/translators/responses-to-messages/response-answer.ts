import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import { isErrorAlone } from '../../failed-answers.js';
import { errorInstead, invalidAnswer } from '../provider-words.js';
import type { ResponseTools } from './response-tools.js';

/** The facts of the request that its answer depends on. */
export interface AskedResponse {
  readonly provider: string;
  readonly answerId: string;
  readonly now: number;
  readonly tools: ResponseTools;
  /** The request, whose settings a response repeats. */
  readonly request: JsonObject;
}

/** A block of a message; in a stream, its content so far. */
export interface Block {
  readonly type: unknown;
  readonly id: unknown;
  readonly name: unknown;
  /** The content of a text or thinking block. */
  text: string;
  /** The input of a call, as JSON. */
  json: string;
}

const INCOMPLETE: ReadonlyMap<unknown, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  ['refusal', 'content_filter'],
]);

/**
 * Translates a message to a response.
 * Sources: https://docs.anthropic.com/en/api/messages and
 * https://platform.openai.com/docs/api-reference/responses/object, read 2026-11-28.
 */
export function toResponse(message: JsonObject, asked: AskedResponse): JsonObject {
  if (isErrorAlone(message)) throw errorInstead(message, asked.provider);
  const { content, stop_reason: reason } = message;
  if (!Array.isArray(content)) throw invalidAnswer('a message without content');
  const output = content
    .filter(isObject)
    .map((block, index) => itemOf(wholeBlock(block), index, asked, 'completed'))
    .filter((item) => item !== undefined);
  return endedResponse(responseHead(message, asked), output, reason, message['usage']);
}

/** The members that all events of a response share. */
export function responseHead({ id, model }: JsonObject, { answerId, now, request }: AskedResponse): JsonObject {
  const { instructions, tools, text, metadata, ...given } = request;
  return {
    id: `resp_${stringOrUndefined(id) ?? answerId}`,
    object: 'response',
    created_at: now,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: instructions ?? null,
    max_output_tokens: given['max_output_tokens'] ?? null,
    model: stringOrUndefined(model) || given['model'],
    output: [],
    parallel_tool_calls: given['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: given['temperature'] ?? null,
    text: text ?? { format: { type: 'text' } },
    tool_choice: given['tool_choice'] ?? 'auto',
    tools: tools ?? [],
    top_p: given['top_p'] ?? null,
    truncation: 'disabled',
    usage: null,
    metadata: metadata ?? {},
  };
}

export function endedResponse(
  head: JsonObject,
  output: readonly JsonObject[],
  reason: unknown,
  usage: unknown,
): JsonObject {
  const missing = INCOMPLETE.get(reason);
  return {
    ...head,
    status: missing === undefined ? 'completed' : 'incomplete',
    incomplete_details: missing === undefined ? null : { reason: missing },
    output,
    usage: toResponseUsage(isObject(usage) ? usage : {}),
  };
}

/** OpenAI's input count includes tokens that are read from a cache or written to it. */
function toResponseUsage(usage: JsonObject): JsonObject {
  const figure = (name: string): number => numberOrUndefined(usage[name]) ?? 0;
  const cached = figure('cache_read_input_tokens');
  const written = figure('cache_creation_input_tokens');
  const input = figure('input_tokens') + cached + written;
  const output = figure('output_tokens');
  const details = usage['output_tokens_details'];
  const thought = isObject(details) ? numberOrUndefined(details['thinking_tokens']) : undefined;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thought ?? 0 },
    total_tokens: input + output,
  };
}

/** The item of a block; undefined when it has none. */
export function itemOf(block: Block, index: number, asked: AskedResponse, status: string): JsonObject | undefined {
  const { answerId } = asked;
  switch (block.type) {
    case 'text':
      return {
        type: 'message',
        id: `msg_${answerId}_${index}`,
        status,
        role: 'assistant',
        content: status === 'completed' ? [outputText(block.text)] : [],
      };
    case 'thinking':
      return {
        type: 'reasoning',
        id: `rs_${answerId}_${index}`,
        summary: block.text === '' ? [] : [{ type: 'summary_text', text: block.text }],
      };
    case 'tool_use':
      return callItem(block, asked, status);
    default:
      return undefined;
  }
}

export function outputText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** The input of a custom tool, as plain text. */
export function customInput(json: string): string {
  try {
    const { input }: JsonObject = JSON.parse(json);
    if (typeof input === 'string') return input;
  } catch {
    // The model may have written the text without the object around it, or the output cap cut it.
  }
  return json;
}

function callItem({ id, name, json }: Block, { tools }: AskedResponse, status: string): JsonObject {
  if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
  const { name: own, namespace, isCustom } = tools.find(name);
  const named = { call_id: id, name: own, ...(namespace === undefined ? {} : { namespace }) };
  return isCustom
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...named, input: customInput(json), status }
    : { type: 'function_call', id: `fc_${id}`, ...named, arguments: json, status };
}

function wholeBlock({ type, id, name, text, thinking, input }: JsonObject): Block {
  return {
    type,
    id,
    name,
    text: stringOrUndefined(text) ?? stringOrUndefined(thinking) ?? '',
    json: stringifyLongNumbers(input ?? {}),
  };
}
