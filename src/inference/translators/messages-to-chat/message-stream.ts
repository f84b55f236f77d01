import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { signedId } from '../call-signatures.js';
import { isErrorAlone } from '../../failed-answers.js';
import { brokenOff, errorInstead, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import {
  type AskedMessage,
  partsOf,
  refuseFailed,
  stopOf,
  thoughtsOf,
  toMessageUsage,
  toolIdOf,
} from './message-answer.js';
import { usageMemberOf } from '../../dialects/openai-chat/chat-usage.js';

const NO_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
} as const;
/** The most tool calls of one answer. */
const MAX_CALLS = 1_024;
/** The most characters of arguments that arrive before the name of their call. */
const MAX_WAITING = 1024 * 1024;

type Kind = 'text' | 'thinking';

/** A tool call. It stays open until the model has finished, since servers may mix the pieces of several calls. */
interface Call {
  readonly id: string;
  /** Its id at the provider. */
  readonly given: unknown;
  /** The index of its block; undefined until its name has arrived. */
  block: number | undefined;
  /** The arguments that arrived before the name. */
  waiting: string;
  /** Whether the server gave it an id. */
  hasId: boolean;
  hasArguments: boolean;
}

/** Translates the chunks of a chat to the events of a message. */
export class MessageStream implements StreamTranslation {
  #hasBegun = false;
  #nextBlock = 0;
  /** The open block of text or reasoning. */
  #open: { readonly kind: Kind; readonly block: number } | undefined;
  /** Calls by the server's index. */
  readonly #byIndex = new Map<number, Call>();
  #calls: Call[] = [];
  #callCount = 0;
  #hasRefusal = false;
  /** The choice that has ended the answer. */
  #ending: JsonObject | undefined;
  #usage: JsonObject = NO_USAGE;
  #isOver = false;

  constructor(private readonly asked: AskedMessage) {}

  push(chunk: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (this.#isOver) return [];
    if (chunk === STREAM_END) return this.#finish();
    if (isErrorAlone(chunk)) throw errorInstead(chunk, this.asked.provider);
    if (isObject(usageMemberOf(chunk))) this.#usage = toMessageUsage(chunk);
    const choice: unknown = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    // Azure's first chunk has no choices, and not even a model.
    if (!isObject(choice)) return [];
    refuseFailed(chunk, choice, this.asked);
    const events = this.#hasBegun ? [] : this.#begin(chunk);
    if (isObject(choice['delta'])) events.push(...this.#ofDelta(choice['delta']));
    if (typeof choice['finish_reason'] === 'string') {
      this.#ending ??= choice;
      // The blocks are closed now, so that the caller can run its tools before the usage arrives.
      events.push(...this.#closeAll());
    }
    return events;
  }

  /** Some servers send no end mark. */
  end(): readonly JsonObject[] {
    if (this.#isOver) return [];
    if (this.#ending === undefined) throw brokenOff();
    return this.#finish();
  }

  #begin({ id, model }: JsonObject): JsonObject[] {
    this.#hasBegun = true;
    const message = {
      id: stringOrUndefined(id) || `msg_${this.asked.answerId}`,
      type: 'message',
      role: 'assistant',
      model: stringOrUndefined(model) ?? '',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: NO_USAGE,
    };
    return [{ type: 'message_start', message }, { type: 'ping' }];
  }

  #ofDelta(delta: JsonObject): readonly JsonObject[] {
    const { content, refusal, tool_calls: calls } = delta;
    const { text, thoughts } = partsOf(content);
    this.#hasRefusal ||= typeof refusal === 'string' && refusal !== '';
    const thought = this.asked.thinks ? thoughtsOf(delta) + thoughts : '';
    const words = text + (stringOrUndefined(refusal) ?? '');
    return [
      ...(thought === '' ? [] : this.#say('thinking', thought)),
      ...(words === '' ? [] : this.#say('text', words)),
      ...(Array.isArray(calls) ? calls.filter(isObject).flatMap((call) => this.#ofCall(call)) : []),
    ];
  }

  #say(kind: Kind, text: string): readonly JsonObject[] {
    const events: JsonObject[] = [];
    if (this.#open?.kind !== kind) {
      events.push(...this.#closeOpen());
      const block = this.#nextBlock++;
      this.#open = { kind, block };
      const empty = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
      events.push({ type: 'content_block_start', index: block, content_block: empty });
    }
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    return [...events, { type: 'content_block_delta', index: this.#open?.block, delta }];
  }

  #ofCall(piece: JsonObject): readonly JsonObject[] {
    const called = isObject(piece['function']) ? piece['function'] : {};
    const call = this.#callOf(piece);
    const name = stringOrUndefined(called['name']) || undefined;
    const json = argumentsOf(called['arguments']);
    call.hasArguments ||= json !== '';
    if (call.block === undefined && name === undefined) {
      call.waiting += json;
      if (call.waiting.length > MAX_WAITING) throw invalidAnswer('a tool call without a name');
      return [];
    }
    const events: JsonObject[] = [];
    if (call.block === undefined) {
      events.push(...this.#closeOpen());
      call.block = this.#nextBlock++;
      const block = { type: 'tool_use', id: call.id, name: this.asked.ownNames.get(name ?? '') ?? name, input: {} };
      events.push({ type: 'content_block_start', index: call.block, content_block: block });
    }
    const partial_json = call.waiting + json;
    call.waiting = '';
    if (partial_json !== '')
      events.push({
        type: 'content_block_delta',
        index: call.block,
        delta: { type: 'input_json_delta', partial_json },
      });
    return events;
  }

  /**
   * Finds the call of a piece by its index. Another id under a known index means another call, since some servers
   * number all calls 0.
   */
  #callOf(piece: JsonObject): Call {
    const { index, id } = piece;
    const at = typeof index === 'number' ? index : Math.max(this.#byIndex.size - 1, 0);
    const known = this.#byIndex.get(at);
    const hasId = typeof id === 'string' && id !== '';
    if (known !== undefined && (hasId ? id === known.given : !isNext(known, piece))) return known;
    const earlier = known !== undefined && hasId ? this.#calls.find((call) => call.given === id) : undefined;
    if (earlier !== undefined) {
      this.#byIndex.set(at, earlier);
      return earlier;
    }
    if (this.#callCount >= MAX_CALLS) throw invalidAnswer('too many tool calls');
    const own = signedId(toolIdOf(id, this.#callCount, this.asked), piece);
    const call: Call = { id: own, given: id, block: undefined, waiting: '', hasId, hasArguments: false };
    this.#callCount += 1;
    this.#byIndex.set(at, call);
    this.#calls.push(call);
    return call;
  }

  #closeOpen(): readonly JsonObject[] {
    if (this.#open === undefined) return [];
    const { block } = this.#open;
    this.#open = undefined;
    return [{ type: 'content_block_stop', index: block }];
  }

  #closeAll(): readonly JsonObject[] {
    const calls = this.#calls.flatMap(({ block }) => (block === undefined ? [] : [block]));
    if (calls.length < this.#calls.length) throw invalidAnswer('a tool call without a name');
    this.#calls = [];
    this.#byIndex.clear();
    return [...this.#closeOpen(), ...calls.map((index) => ({ type: 'content_block_stop', index }))];
  }

  #finish(): readonly JsonObject[] {
    if (!this.#hasBegun) throw brokenOff();
    const events = this.#closeAll();
    this.#isOver = true;
    const said = { hasCalls: this.#callCount > 0, hasRefusal: this.#hasRefusal };
    const delta = stopOf(this.#ending ?? {}, said, this.asked);
    return [...events, { type: 'message_delta', delta, usage: this.#usage }, { type: 'message_stop' }];
  }
}

/** Some servers send an object instead of its JSON text. */
function argumentsOf(given: unknown): string {
  return isObject(given) ? stringifyLongNumbers(given) : (stringOrUndefined(given) ?? '');
}

/**
 * Whether a piece begins another call. Gemini may number all calls 0 and give no ids, so a name with new arguments is
 * another call.
 */
function isNext(known: Call, { function: called }: JsonObject): boolean {
  if (known.hasId || !known.hasArguments || !isObject(called)) return false;
  return Boolean(called['name']) && argumentsOf(called['arguments']).startsWith('{');
}
