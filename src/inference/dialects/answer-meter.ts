import { BodyBuffer } from '../../common/http/body-buffer.js';
import { isObject, type JsonObject, parseForeignJson, withoutByteOrderMark } from '../../common/json/read.js';
import { endOfString, QUOTE } from '../../common/json/scan.js';
import type { NanoDollars } from '../../common/money/units.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../../gateway/billable-use.js';
import { EventSplitter, readEvent } from '../../upstream/streams/event-splitter.js';
import type { PriceMode } from '../../usage/prices/price.types.js';
import type { Counts } from '../../usage/units.js';
import { isError, isErrorAlone } from '../failed-answers.js';
import { reportedCost } from './reported-cost.js';
import { answerFactsIn } from './answer-facts.js';
import { servedMode } from './service-mode.js';

const NO_BYTES = Buffer.alloc(0);
/** Of an event that is read: one may hold an image, as base64. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;
const ERROR = '"error"';
const USAGE: readonly string[] = ['"usage"'];
const FINISH_REASON = '"finish_reason":';

/** What a dialect says about its answers. */
export interface AnswerForm {
  /** The fields of an event that hold output of the model, each with its quotes and colon: `"content":`. */
  readonly outputFields: readonly string[];
  /**
   * Match the events that end a stream, and no text of a model, which may contain the name of a mark. An event with the reason of
   * its end, or with its usage alone, ends a stream too.
   */
  readonly endMarks: readonly RegExp[];
  /** The counts of an event or of a whole answer, on top of those that came before; undefined where it has none. */
  readonly usageIn: (message: JsonObject, before: Counts | undefined) => Counts | undefined;
  /** The id of what the answer makes, in a whole answer or in an event. */
  readonly idIn?: (message: JsonObject) => string | undefined;
  /** The fields that an event with counts has one of, each with its quotes; by default `"usage"`. */
  readonly usageFields?: readonly string[];
  /** The field with the reason why the answer ends, with its quotes and colon; by default `"finish_reason":`. */
  readonly endField?: string;
  /** What an answer or an event says about the answer, on top of what came before; by default in the forms of OpenAI and Anthropic. */
  readonly factsIn?: (message: JsonObject, before: AnswerFacts) => AnswerFacts;
  /** How it was served; by default in the same forms. */
  readonly modeIn?: (message: JsonObject) => PriceMode | undefined;
  /** Whether an event has the usage and nothing else. */
  readonly isUsageAlone?: (event: JsonObject) => boolean;
}

export interface MeterOptions {
  /** The caller did not ask for the usage of its stream: an event that has nothing else stays here. */
  readonly hidesUsage: boolean;
  /** What came of a stream that was cut says nothing about what the model wrote. */
  readonly hidesReasoning: boolean;
  /** The provider says what the answer costs. */
  readonly reportsCost?: boolean | undefined;
  /** Gets the id of what the answer makes, once. */
  readonly onId?: ((id: string) => void) | undefined;
}

/** Meters an answer: one JSON object, or a stream of events. */
export class AnswerMeter implements StreamMeter {
  readonly #events = new EventSplitter(MAX_EVENT_BYTES, 'split');
  #counts: Counts | undefined;
  #mode: PriceMode | undefined;
  #cost: NanoDollars | undefined;
  #outputBytes = 0;
  #isWhole: boolean | undefined;
  /** Of a whole answer. */
  readonly #pieces = new BodyBuffer();
  #needsId: boolean;
  #failure: JsonObject | undefined;
  #hasError = false;
  #facts: AnswerFacts = {};
  /** The first event says which model answers. */
  #isFirst = true;
  /** Whether an event has said that the stream is complete. */
  #hasEnded = false;
  /** Whether the last event went on, and whether it ended in CR: the LF of its CRLF may begin the next piece. */
  #wentOn = true;
  #endedInCr = false;

  readonly #fields: EventFields;
  readonly #factsIn: NonNullable<AnswerForm['factsIn']>;
  readonly #modeIn: NonNullable<AnswerForm['modeIn']>;

  constructor(
    private readonly form: AnswerForm,
    private readonly options: MeterOptions,
  ) {
    this.#fields = EventFields.of(form);
    this.#factsIn = form.factsIn ?? answerFactsIn;
    this.#modeIn = form.modeIn ?? servedMode;
    this.#needsId = options.onId !== undefined && form.idIn !== undefined;
  }

  push(chunk: Buffer): Buffer {
    this.#isWhole ??= isWhole(chunk);
    // Only spaces so far.
    if (this.#isWhole === undefined) return chunk;
    if (this.#isWhole) {
      // It comes in one piece, unless its server calls it a stream.
      const isFirst = this.#pieces.size === 0;
      if (!(isFirst && this.#readWhole(chunk)) && this.#pieces.size < MAX_EVENT_BYTES) this.#pieces.push(chunk);
      return chunk;
    }
    return this.options.hidesUsage ? this.#passEvents(chunk) : this.#watchEvents(chunk);
  }

  end(): Buffer {
    if (this.#isWhole === true) {
      if (this.#pieces.size > 0) this.#readWhole(this.#pieces.take());
      return NO_BYTES;
    }
    // Some servers end their last event without an empty line.
    const rest = this.#events.rest();
    const passed = this.#passed(rest);
    return this.options.hidesUsage ? passed : NO_BYTES;
  }

  get usage(): ReportedUsage {
    const reported = this.#reported();
    const mode = this.#mode === undefined ? {} : { mode: this.#mode };
    return this.#cost === undefined ? { ...reported, ...mode } : { ...reported, ...mode, cost: this.#cost };
  }

  #reported(): ReportedUsage {
    if (this.#failure !== undefined && this.#counts === undefined)
      return { counts: { input: 0, output: 0 }, isComputed: true };
    const counts = this.#counts ?? {};
    if (this.#isWhole === true) return this.#counts === undefined ? { counts, isComputed: true } : { counts };
    if (counts.output !== undefined) return { counts };
    // Unknown, and so the bound.
    if (this.options.hidesReasoning) return { counts, isComputed: true };
    // A token has at least one byte.
    return { counts: { ...counts, output: this.#outputBytes }, isComputed: true };
  }

  get answer(): AnswerFacts {
    return this.#facts;
  }

  get hasOutput(): boolean {
    return this.#outputBytes > 0;
  }

  get failure(): JsonObject | undefined {
    return this.hasOutput ? undefined : this.#failure;
  }

  get hasError(): boolean {
    return this.#hasError || this.#failure !== undefined;
  }

  get isCutShort(): boolean {
    const hasEnded = this.#hasEnded || this.#facts.finishReason !== undefined;
    return this.#isWhole !== true && !hasEnded && this.failure === undefined;
  }

  #watchEvents(chunk: Buffer): Buffer {
    for (const event of this.#events.push(chunk)) this.#read(event);
    return chunk;
  }

  #passEvents(chunk: Buffer): Buffer {
    const kept = this.#events.push(chunk).map((event) => this.#passed(event));
    const [only] = kept;
    return kept.length === 1 && only !== undefined ? only : Buffer.concat(kept);
  }

  /** What goes on of an event, however its line ends are cut. */
  #passed(event: Buffer): Buffer {
    const ofLast = this.#endedInCr && event[0] === LF ? 1 : 0;
    const start = this.#wentOn ? 0 : ofLast;
    this.#wentOn = !this.#read(event);
    this.#endedInCr = event.at(-1) === CR;
    return event.subarray(start, this.#wentOn ? undefined : ofLast);
  }

  #readWhole(text: Buffer): boolean {
    const answer = parseForeignJson(text);
    if (!isObject(answer)) return false;
    this.#noteId(answer);
    this.#facts = this.#factsIn(answer, this.#facts);
    this.#mode = this.#modeIn(answer);
    const counts = this.form.usageIn(answer, undefined);
    this.#counts = counts === undefined || saysSome(counts) ? counts : undefined;
    if (this.options.reportsCost === true) this.#cost = reportedCost(answer);
    this.#failure = this.#counts === undefined && isErrorAlone(answer) ? answer : undefined;
    return true;
  }

  #noteId(message: JsonObject): void {
    const id = this.#needsId ? this.form.idIn?.(message) : undefined;
    if (id === undefined) return;
    this.#needsId = false;
    this.options.onId?.(id);
  }

  #noteError(event: JsonObject): void {
    this.#hasError ||= isError(event['error']) || isFailedEvent(event);
    if (!this.hasOutput && isFailedEvent(event)) this.#failure = event;
  }

  /** Whether the event has the usage, and nothing else. */
  #read(event: Buffer): boolean {
    // A character for each byte.
    const text = event.toString('latin1');
    const { outputBytes, hasUsage, hasReason, mayFail } = this.#fields.in(event, text);
    this.#outputBytes += outputBytes;
    this.#hasEnded ||= this.form.endMarks.some((mark) => mark.test(text));
    if (!hasUsage && !mayFail && !hasReason && !this.#isFirst && !this.#needsId) return false;
    const { data = '' } = readEvent(event);
    const message = parseForeignJson(data);
    if (!isObject(message)) return false;
    this.#isFirst = false;
    if (mayFail) this.#noteError(message);
    this.#noteId(message);
    this.#facts = this.#factsIn(message, this.#facts);
    this.#mode = this.#modeIn(message) ?? this.#mode;
    const counts = hasUsage ? this.form.usageIn(message, this.#counts) : undefined;
    if (counts === undefined) return false;
    if (saysSome(counts)) this.#counts = counts;
    if (this.options.reportsCost === true) this.#cost = reportedCost(message) ?? this.#cost;
    const isAlone = this.form.isUsageAlone?.(message) === true;
    this.#hasEnded ||= isAlone;
    return isAlone;
  }
}

/** Some servers write zeros where they count nothing, also in the last event. */
function saysSome(counts: Counts): boolean {
  return Object.values(counts).some((count) => (count ?? 0) !== 0);
}

/** Whether an answer is one JSON object; undefined while nothing of it has come. */
function isWhole(beginning: Buffer): boolean | undefined {
  const isOfText = (byte: number): boolean => byte > SPACE;
  return beginning.some(isOfText) ? withoutByteOrderMark(beginning).find(isOfText) === OPEN_BRACE : undefined;
}

/** An error instead of an answer in a stream: an event without output, or one that ends a stream of the OpenAI or Anthropic API. */
function isFailedEvent(event: JsonObject): boolean {
  return isErrorAlone(event) || event['type'] === 'error' || event['type'] === 'response.failed';
}

/** What the fields of an event say about it, without reading its JSON. */
interface SeenFields {
  outputBytes: number;
  hasUsage: boolean;
  /** Why the answer ends. */
  hasReason: boolean;
  mayFail: boolean;
}

/** Finds the fields of a form in events: by one expression, which takes a seventh of the time of a search for each field. */
class EventFields {
  static readonly #known = new WeakMap<AnswerForm, EventFields>();

  readonly #outputFields: ReadonlySet<string>;
  readonly #usageFields: ReadonlySet<string>;
  readonly #endField: string;
  readonly #any: RegExp;

  /** Each form is compiled once. */
  static of(form: AnswerForm): EventFields {
    const known = EventFields.#known.get(form) ?? new EventFields(form);
    EventFields.#known.set(form, known);
    return known;
  }

  private constructor({ outputFields, usageFields = USAGE, endField = FINISH_REASON }: AnswerForm) {
    this.#outputFields = new Set(outputFields);
    this.#usageFields = new Set(usageFields);
    this.#endField = endField;
    const fields = [...outputFields, ...usageFields, endField, ERROR];
    this.#any = new RegExp(fields.join('|'), 'g');
  }

  /** @param text the event, in Latin-1 */
  in(event: Buffer, text: string): SeenFields {
    const seen: SeenFields = { outputBytes: 0, hasUsage: false, hasReason: false, mayFail: false };
    this.#any.lastIndex = 0;
    for (let match = this.#any.exec(text); match !== null; match = this.#any.exec(text)) {
      const [field] = match;
      if (this.#outputFields.has(field)) seen.outputBytes += textBytes(event, this.#any.lastIndex);
      else if (this.#usageFields.has(field)) seen.hasUsage = true;
      else if (field === this.#endField) seen.hasReason ||= textBytes(event, this.#any.lastIndex) > 0;
      else seen.mayFail = true;
    }
    return seen;
  }
}

/** Of the text that is a value. Some servers write a space before it. */
function textBytes(event: Buffer, value: number): number {
  let quote = value;
  while (event[quote] === SPACE) quote += 1;
  return event[quote] === QUOTE ? endOfString(event, quote) - quote - 1 : 0;
}
