import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { isErrorAlone } from '../../failed-answers.js';
import { brokenOff, errorInstead, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import { type AskedChat, chatChunk, chatHead, finishReasonOf, toChatUsage } from './chat-answer.js';

/** The most calls of tools in one answer. */
const MAX_CALLS = 1_024;

/** A call of a tool whose block is open. */
interface OpenCall {
  readonly index: number;
  /** Its input for servers that send it whole, without further pieces. */
  readonly whole: string;
  hasArguments: boolean;
}

/** Translates the events of a message to the chunks of a chat. */
export class ChatStream implements StreamTranslation {
  #head: JsonObject | undefined;
  /** Open calls by the index of their block. */
  readonly #calls = new Map<unknown, OpenCall>();
  #callCount = 0;
  #reason: unknown;
  #usage: JsonObject = {};
  #isOver = false;

  constructor(private readonly asked: AskedChat) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (this.#isOver || event === STREAM_END) return [];
    if (isErrorAlone(event)) throw errorInstead(event, this.asked.provider);
    const { type, index, message, content_block: block, delta, usage } = event;
    switch (type) {
      case 'message_start':
        return this.#begin(isObject(message) ? message : {});
      case 'content_block_start':
        return this.#start(index, isObject(block) ? block : {});
      case 'content_block_delta':
        return isObject(delta) ? this.#add(index, delta) : [];
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta':
        if (isObject(delta)) this.#reason = delta['stop_reason'] ?? this.#reason;
        this.#noteUsage(usage);
        return [];
      case 'message_stop':
        return this.#finish();
      default:
        return [];
    }
  }

  end(): readonly JsonObject[] {
    if (!this.#isOver) throw brokenOff();
    return [];
  }

  #begin(message: JsonObject): readonly JsonObject[] {
    if (this.#head !== undefined) return [];
    this.#head = chatHead(message, 'chat.completion.chunk', this.asked);
    this.#noteUsage(message['usage']);
    return [this.#chunk({ role: 'assistant', content: '', refusal: null })];
  }

  /** Counts are cumulative, and each may be null or absent. */
  #noteUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const known = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  #start(block: unknown, { type, id, name, input, text, thinking }: JsonObject): readonly JsonObject[] {
    if (type !== 'tool_use') return this.#say(stringOrUndefined(text), stringOrUndefined(thinking));
    if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
    if (this.#callCount >= MAX_CALLS) throw invalidAnswer('too many tool calls');
    const index = this.#callCount;
    this.#callCount += 1;
    this.#calls.set(block, { index, whole: stringifyLongNumbers(input ?? {}), hasArguments: false });
    return [this.#chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })];
  }

  #add(block: unknown, { text, thinking, partial_json: json }: JsonObject): readonly JsonObject[] {
    const call = this.#calls.get(block);
    if (call === undefined) return this.#say(stringOrUndefined(text), stringOrUndefined(thinking));
    const piece = stringOrUndefined(json) ?? '';
    if (piece === '') return [];
    call.hasArguments = true;
    return [this.#argumentsOf(call, piece)];
  }

  #stop(block: unknown): readonly JsonObject[] {
    const call = this.#calls.get(block);
    this.#calls.delete(block);
    return call === undefined || call.hasArguments ? [] : [this.#argumentsOf(call, call.whole)];
  }

  #say(text = '', thought = ''): readonly JsonObject[] {
    return [
      ...(thought === '' ? [] : [this.#chunk({ reasoning_content: thought })]),
      ...(text === '' ? [] : [this.#chunk({ content: text })]),
    ];
  }

  #argumentsOf({ index }: OpenCall, piece: string): JsonObject {
    return this.#chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }

  #finish(): readonly JsonObject[] {
    if (this.#head === undefined) throw brokenOff();
    this.#isOver = true;
    const last = this.#chunk({}, finishReasonOf(this.#reason, this.#callCount > 0));
    return this.asked.asksForUsage ? [last, { ...this.#head, choices: [], usage: toChatUsage(this.#usage) }] : [last];
  }

  #chunk(delta: JsonObject, finishReason?: string): JsonObject {
    return chatChunk(this.#head, this.asked, delta, finishReason);
  }
}
