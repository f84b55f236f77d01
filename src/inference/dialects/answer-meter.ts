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
/** The largest event that is parsed. An event may hold an image in base64. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;
const ERROR = '"error"';
const USAGE: readonly string[] = ['"usage"'];
const FINISH_REASON = '"finish_reason":';

/** The answer format of a dialect. */
export interface AnswerForm {
  /** The fields of an event that hold output of the model, each with its quotes and colon: `"content":`. */
  readonly outputFields: readonly string[];
  /**
   * Match the events that end a stream, but no text of a model, which may contain the name of a mark. An event with a
   * finish reason, or with the usage alone, also ends a stream.
   */
  readonly endMarks: readonly RegExp[];
  /** Adds the counts of an event or a whole answer to those from before; undefined when it has none. */
  readonly usageIn: (message: JsonObject, before: Counts | undefined) => Counts | undefined;
  /** The id of the object that the answer creates, from a whole answer or an event. */
  readonly idIn?: (message: JsonObject) => string | undefined;
  /** An event with counts contains one of these fields, each with its quotes; by default `"usage"`. */
  readonly usageFields?: readonly string[];
  /** The field with the reason why the answer ends, with its quotes and colon; by default `"finish_reason":`. */
  readonly endField?: string;
  /**
   * Adds the facts of an answer or an event to those from before; by default in the formats of OpenAI and Anthropic.
   */
  readonly factsIn?: (message: JsonObject, before: AnswerFacts) => AnswerFacts;
  /** The mode in which it was served; by default in the formats of OpenAI and Anthropic. */
  readonly modeIn?: (message: JsonObject) => PriceMode | undefined;
  /** Whether an event contains only the usage. */
  readonly isUsageAlone?: (event: JsonObject) => boolean;
}

export interface MeterOptions {
  /** Whether to withhold events with the usage alone, since the caller did not ask for it. */
  readonly hidesUsage: boolean;
  /** Whether the received part of a cut stream may lack output, such as hidden reasoning. */
  readonly hidesReasoning: boolean;
  /** Whether the provider reports the cost of the answer. */
  readonly reportsCost?: boolean | undefined;
  /** Called once, with the id of the object that the answer creates. */
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
  /** The body so far of an answer that is one JSON object. */
  readonly #pieces = new BodyBuffer();
  #needsId: boolean;
  #failure: JsonObject | undefined;
  #hasError = false;
  #facts: AnswerFacts = {};
  /** The first event is always parsed, since it names the model. */
  #isFirst = true;
  /** Whether an event has marked the end of the stream. */
  #hasEnded = false;
  /** Whether the last event was forwarded, and whether it ended in CR: the LF of its CRLF may begin the next chunk. */
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
    // The answer has only white space so far.
    if (this.#isWhole === undefined) return chunk;
    if (this.#isWhole) {
      // It arrives in one piece, unless its server calls it a stream.
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
    // The output is unknown, so the bound is charged.
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

  /** The part of an event that is forwarded, even if a CRLF is split between chunks. */
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

  /** Meters an event. Returns whether it contains only the usage. */
  #read(event: Buffer): boolean {
    // Latin-1 has one character per byte.
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

/** Some servers write zeros when they count nothing, also in the last event. */
function saysSome(counts: Counts): boolean {
  return Object.values(counts).some((count) => (count ?? 0) !== 0);
}

/** Whether an answer is one JSON object; undefined while it has only white space. */
function isWhole(beginning: Buffer): boolean | undefined {
  const isOfText = (byte: number): boolean => byte > SPACE;
  return beginning.some(isOfText) ? withoutByteOrderMark(beginning).find(isOfText) === OPEN_BRACE : undefined;
}

/**
 * Whether an event is an error instead of an answer: an error alone, or the failure event of the OpenAI or Anthropic
 * API.
 */
function isFailedEvent(event: JsonObject): boolean {
  return isErrorAlone(event) || event['type'] === 'error' || event['type'] === 'response.failed';
}

/** The facts that an event's field names give without parsing its JSON. */
interface SeenFields {
  outputBytes: number;
  hasUsage: boolean;
  /** Whether the event gives a finish reason. */
  hasReason: boolean;
  mayFail: boolean;
}

/** Finds the fields of a form in events. One expression takes a seventh of the time of one search per field. */
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

/** The length of a string value. Some servers write a space before it. */
function textBytes(event: Buffer, value: number): number {
  let quote = value;
  while (event[quote] === SPACE) quote += 1;
  return event[quote] === QUOTE ? endOfString(event, quote) - quote - 1 : 0;
}
