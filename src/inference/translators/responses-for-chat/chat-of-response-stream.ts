import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { type AskedChat, chatChunk } from '../chat-to-messages/chat-answer.js';
import { isErrorAlone } from '../../failed-answers.js';
import { brokenOff, errorInstead, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import { callOf, finishReasonOf, headOfResponse, refuseFailure, usageOfResponse } from './chat-of-response.js';

/** The most calls of tools in one answer. */
const MAX_CALLS = 1_024;

/** A call of a tool whose item is open. */
interface OpenCall {
  readonly index: number;
  /** The member of a chunk that holds its input. */
  readonly field: 'function' | 'custom';
  hasInput: boolean;
}

const INPUTS = { function: 'arguments', custom: 'input' } as const;

/** Translates the events of a response to the chunks of a chat. */
export class ChatOfResponseStream implements StreamTranslation {
  #head: JsonObject | undefined;
  /** Open calls by the place of their item in the output. */
  readonly #calls = new Map<unknown, OpenCall>();
  #callCount = 0;
  #isOver = false;

  constructor(private readonly asked: AskedChat) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (this.#isOver || event === STREAM_END) return [];
    const { type, response, item, output_index: place, delta } = event;
    if (type === 'error' || isErrorAlone(event)) throw errorInstead(event, this.asked.provider);
    const begun = isObject(response) ? this.#begin(response) : [];
    return [...begun, ...this.#of(String(type), { response, item, place, text: stringOrUndefined(delta) ?? '' })];
  }

  end(): readonly JsonObject[] {
    if (!this.#isOver) throw brokenOff();
    return [];
  }

  #of(
    type: string,
    { response, item, place, text }: { response: unknown; item: unknown; place: unknown; text: string },
  ): readonly JsonObject[] {
    switch (type) {
      case 'response.output_text.delta':
        return this.#say('content', text);
      case 'response.refusal.delta':
        return this.#say('refusal', text);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#say('reasoning_content', text);
      case 'response.output_item.added':
        return isObject(item) ? this.#start(place, item) : [];
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#addInput(this.#calls.get(place), text);
      case 'response.output_item.done':
        return isObject(item) ? this.#stop(place, item) : [];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#finish(isObject(response) ? response : {});
      default:
        return [];
    }
  }

  #begin(response: JsonObject): readonly JsonObject[] {
    if (this.#head !== undefined) return [];
    this.#head = headOfResponse(response, 'chat.completion.chunk', this.asked);
    return [this.#chunk({ role: 'assistant', content: '', refusal: null })];
  }

  #say(field: string, text: string): readonly JsonObject[] {
    return text === '' ? [] : [this.#chunk({ [field]: text })];
  }

  #start(place: unknown, item: JsonObject): readonly JsonObject[] {
    const call = callOf({ ...item, arguments: '', input: '' }, this.#callCount);
    if (call === undefined) return [];
    if (this.#callCount >= MAX_CALLS) throw invalidAnswer('too many tool calls');
    const field = call['type'] === 'custom' ? 'custom' : 'function';
    this.#calls.set(place, { index: this.#callCount, field, hasInput: false });
    this.#callCount += 1;
    return [this.#chunk({ tool_calls: [call] })];
  }

  #addInput(call: OpenCall | undefined, text: string): readonly JsonObject[] {
    if (call === undefined || text === '') return [];
    call.hasInput = true;
    return [this.#chunk({ tool_calls: [{ index: call.index, [call.field]: { [INPUTS[call.field]]: text } }] })];
  }

  /** Some streams send the input of a call only in its last event. */
  #stop(place: unknown, item: JsonObject): readonly JsonObject[] {
    const call = this.#calls.get(place);
    this.#calls.delete(place);
    if (call === undefined || call.hasInput) return [];
    return this.#addInput(call, stringOrUndefined(item[INPUTS[call.field]]) ?? '');
  }

  #finish(response: JsonObject): readonly JsonObject[] {
    refuseFailure(response, this.asked.provider);
    if (this.#head === undefined) throw brokenOff();
    this.#isOver = true;
    const last = this.#chunk({}, finishReasonOf(response, this.#callCount > 0));
    if (!this.asked.asksForUsage) return [last];
    return [last, { ...this.#head, choices: [], usage: usageOfResponse(response['usage']) }];
  }

  #chunk(delta: JsonObject, finishReason?: string): JsonObject {
    return chatChunk(this.#head, this.asked, delta, finishReason);
  }
}
