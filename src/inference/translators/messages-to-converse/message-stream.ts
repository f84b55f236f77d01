import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { isErrorAlone } from '../../failed-answers.js';
import { brokenOff, errorInstead, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import { type AskedConverse, messageHead, stopOf, toMessageUsage } from './message-answer.js';

/** A block that has begun. */
interface OpenBlock {
  readonly index: number;
  readonly type: string;
}

/** Translates the events of ConverseStream to those of a message. Texts begin there without an event of their own. */
export class MessageStream implements StreamTranslation {
  #hasBegun = false;
  /** Open blocks by Bedrock's index. */
  readonly #open = new Map<unknown, OpenBlock>();
  #blocks = 0;
  #hasCalls = false;
  /** The event with the stop reason. */
  #stopped: JsonObject | undefined;
  #isOver = false;

  constructor(private readonly asked: AskedConverse) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (this.#isOver || event === STREAM_END) return [];
    if (isErrorAlone(event)) throw errorInstead(event, this.asked.provider);
    const { messageStart, contentBlockStart: start, contentBlockDelta: delta, contentBlockStop: stop } = event;
    if (isObject(messageStart)) return this.#begin();
    if (isObject(start)) return [...this.#begin(), ...this.#start(start)];
    if (isObject(delta)) return [...this.#begin(), ...this.#add(delta)];
    if (isObject(stop)) return this.#stop(stop['contentBlockIndex']);
    const { messageStop, metadata } = event;
    if (isObject(messageStop)) return this.#noteStop(messageStop);
    return isObject(metadata) ? this.#finish(metadata['usage']) : [];
  }

  end(): readonly JsonObject[] {
    if (this.#isOver) return [];
    // The usage arrives last, and may be missing.
    if (this.#stopped === undefined) throw brokenOff();
    return this.#finish(undefined);
  }

  #begin(): readonly JsonObject[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const empty = { content: [], stop_reason: null, stop_sequence: null, usage: toMessageUsage(undefined) };
    return [{ type: 'message_start', message: { ...messageHead(this.asked), ...empty } }];
  }

  #start({ contentBlockIndex: at, start }: JsonObject): readonly JsonObject[] {
    const toolUse = isObject(start) ? start['toolUse'] : undefined;
    if (!isObject(toolUse)) return [];
    const { toolUseId: id, name } = toolUse;
    if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a tool call without id and name');
    this.#hasCalls = true;
    return this.#openBlock(at, { type: 'tool_use', id, name: this.asked.ownNames.get(name) ?? name, input: {} });
  }

  #add({ contentBlockIndex: at, delta }: JsonObject): readonly JsonObject[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent: thought } = delta;
    if (typeof text === 'string') return this.#say(at, text);
    if (isObject(toolUse)) return this.#addInput(at, stringOrUndefined(toolUse['input']) ?? '');
    return this.asked.thinks && isObject(thought) ? this.#think(at, thought) : [];
  }

  #say(at: unknown, text: string): readonly JsonObject[] {
    if (text === '') return [];
    const begun = this.#ofType(at, { type: 'text', text: '' });
    return [...begun, this.#delta(at, { type: 'text_delta', text })];
  }

  #addInput(at: unknown, partial_json: string): readonly JsonObject[] {
    if (this.#open.get(at)?.type !== 'tool_use') throw invalidAnswer('the input of a tool call that has not begun');
    return partial_json === '' ? [] : [this.#delta(at, { type: 'input_json_delta', partial_json })];
  }

  #think(at: unknown, { text, signature, redactedContent: data }: JsonObject): readonly JsonObject[] {
    if (typeof data === 'string') return this.#ofType(at, { type: 'redacted_thinking', data });
    const begun = this.#ofType(at, { type: 'thinking', thinking: '', signature: '' });
    if (typeof text === 'string') return [...begun, this.#delta(at, { type: 'thinking_delta', thinking: text })];
    return typeof signature === 'string' ? [...begun, this.#delta(at, { type: 'signature_delta', signature })] : begun;
  }

  /** Begins the block that a piece belongs to, unless it is open. */
  #ofType(at: unknown, content: JsonObject): readonly JsonObject[] {
    if (this.#open.get(at)?.type === content['type']) return [];
    return [...this.#stop(at), ...this.#openBlock(at, content)];
  }

  /** Begins a block, and ends the open ones: blocks of a message follow each other. */
  #openBlock(at: unknown, content: JsonObject): readonly JsonObject[] {
    const ended = [...this.#open.keys()].flatMap((each) => this.#stop(each));
    const block = { index: this.#blocks, type: String(content['type']) };
    this.#blocks += 1;
    this.#open.set(at, block);
    return [...ended, { type: 'content_block_start', index: block.index, content_block: content }];
  }

  #delta(at: unknown, delta: JsonObject): JsonObject {
    return { type: 'content_block_delta', index: this.#open.get(at)?.index ?? 0, delta };
  }

  #stop(at: unknown): readonly JsonObject[] {
    const block = this.#open.get(at);
    this.#open.delete(at);
    return block === undefined ? [] : [{ type: 'content_block_stop', index: block.index }];
  }

  #noteStop(stopped: JsonObject): readonly JsonObject[] {
    this.#stopped = stopped;
    return [...this.#open.keys()].flatMap((each) => this.#stop(each));
  }

  #finish(usage: unknown): readonly JsonObject[] {
    if (this.#stopped === undefined) throw brokenOff();
    this.#isOver = true;
    const delta = stopOf(this.#stopped, this.#hasCalls);
    return [...this.#begin(), { type: 'message_delta', delta, usage: toMessageUsage(usage) }, { type: 'message_stop' }];
  }
}
