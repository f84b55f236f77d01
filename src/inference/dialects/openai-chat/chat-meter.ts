import { isObject, type JsonObject, parseForeignJson } from '../../../common/json/read.js';
import { endOfString } from '../../../common/json/scan.js';
import type { ReportedUsage, StreamMeter } from '../../../gateway/billable-use.js';
import { EventSplitter, readEvent } from '../../../upstream/streams/event-splitter.js';
import type { Counts } from '../../../usage/units.js';
import { readChatUsage } from './chat-usage.js';

const NO_BYTES = Buffer.alloc(0);
const MAX_EVENT_BYTES = 1024 * 1024;
const OPEN_BRACE = 0x7b;
const USAGE = '"usage"';
/** The fields of a delta that hold output of the model, and their values' quotes. */
const OUTPUT = ['"content":"', '"reasoning_content":"', '"reasoning":"', '"arguments":"', '"refusal":"', '"data":"'];
const EMPTY_STRING = 1;

export interface ChatMeterOptions {
  /** The caller did not ask for the usage of its stream: the chunk that has it stays here. */
  readonly hidesUsage: boolean;
  /** What came of a stream that was cut says nothing about what the model wrote. */
  readonly hidesReasoning: boolean;
}

/** Meters a chat's answer: one JSON object, or a stream of events. */
export class ChatMeter implements StreamMeter {
  readonly #events = new EventSplitter(MAX_EVENT_BYTES);
  #counts: Counts | undefined;
  #outputBytes = 0;
  #isWhole: boolean | undefined;
  /** An event was too long: the rest passes unread. */
  #isBlind = false;

  constructor(private readonly options: ChatMeterOptions) {}

  push(chunk: Buffer): Buffer {
    if (this.#isBlind) return chunk;
    // A whole answer comes in one piece.
    this.#isWhole ??= chunk.find((byte) => byte > 0x20) === OPEN_BRACE;
    if (this.#isWhole) {
      const answer = parseForeignJson(chunk);
      if (isObject(answer)) this.#counts = readChatUsage(answer['usage']);
      return chunk;
    }
    return this.options.hidesUsage ? this.#passEvents(chunk) : this.#watchEvents(chunk);
  }

  end(): Buffer {
    return this.options.hidesUsage && !this.#isBlind ? this.#events.rest() : NO_BYTES;
  }

  get usage(): ReportedUsage {
    if (this.#counts !== undefined) return { counts: this.#counts };
    // Unknown, and so the bound.
    if (this.#isWhole === true || this.options.hidesReasoning) return { counts: {}, isComputed: true };
    // A token has at least one byte.
    return { counts: { output: this.#outputBytes }, isComputed: true };
  }

  get hasOutput(): boolean {
    return this.#outputBytes > 0;
  }

  #watchEvents(chunk: Buffer): Buffer {
    for (const event of this.#split(chunk) ?? []) this.#read(event);
    return chunk;
  }

  #passEvents(chunk: Buffer): Buffer {
    const events = this.#split(chunk);
    if (events === undefined) return Buffer.concat([this.#events.rest(), chunk]);
    const kept = events.filter((event) => !this.#read(event));
    const [only] = kept;
    return kept.length === 1 && only !== undefined ? only : Buffer.concat(kept);
  }

  #split(chunk: Buffer): readonly Buffer[] | undefined {
    try {
      return this.#events.push(chunk);
    } catch {
      this.#isBlind = true;
      return undefined;
    }
  }

  /** Whether the event has the usage, and nothing else. */
  #read(event: Buffer): boolean {
    for (const field of OUTPUT) this.#outputBytes += textBytes(event, field);
    if (!event.includes(USAGE)) return false;
    const { data = '' } = readEvent(event);
    const chunk = parseForeignJson(Buffer.from(data));
    if (!isObject(chunk)) return false;
    const counts = readChatUsage(chunk['usage']);
    if (counts === undefined) return false;
    this.#counts = counts;
    return hasNoChoice(chunk);
  }
}

function textBytes(event: Buffer, field: string): number {
  let bytes = 0;
  for (let at = event.indexOf(field); at >= 0; at = event.indexOf(field, at + field.length)) {
    const quote = at + field.length - 1;
    bytes += endOfString(event, quote) - quote - EMPTY_STRING;
  }
  return bytes;
}

function hasNoChoice({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0;
}
