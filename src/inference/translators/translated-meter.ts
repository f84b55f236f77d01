import { GatewayError } from '../../common/errors/gateway.error.js';
import { stringifyLongNumbers } from '../../common/json/numbers.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../../gateway/billable-use.js';
import { EventSplitter, readEvent } from '../../upstream/streams/event-splitter.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import { parseForTranslation } from './exact-arguments.js';
import { invalidAnswer, withoutList } from './provider-words.js';
import { STREAM_END, type StreamTranslation, type Translation } from './translator.types.js';

const NO_BYTES = Buffer.alloc(0);
/** An event may hold an image in base64. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const DONE = '[DONE]';

/** The format of stream events in the caller's dialect. */
export interface EventForm {
  readonly toText: (event: JsonObject) => string;
  /** Written after the last event of a complete answer. */
  readonly endMark: string;
}

/** Meters the provider's answer, and translates it to the caller's dialect. */
export class TranslatedMeter implements StreamMeter {
  readonly #events = new EventSplitter(MAX_EVENT_BYTES);
  readonly #whole: Buffer[] = [];
  #stream: StreamTranslation | undefined;
  #error: GatewayError | undefined;
  #answerId: string | undefined;

  constructor(
    private readonly meter: StreamMeter,
    private readonly translation: Pick<Translation, 'toAnswer' | 'newStream'>,
    private readonly form: EventForm,
  ) {}

  /** Called when the answer is a stream of events. Otherwise the answer is one JSON object. */
  beginStream(): void {
    this.#stream ??= this.translation.newStream();
  }

  noteHead(head: UpstreamHead): void {
    this.meter.noteHead?.(head);
  }

  push(chunk: Buffer): Buffer {
    const passed = this.meter.push(chunk);
    const stream = this.#stream;
    if (stream === undefined) {
      this.#whole.push(passed);
      return NO_BYTES;
    }
    return this.#written((made) => {
      for (const event of this.#events.push(passed)) made.push(...eventsOf(stream, event));
    });
  }

  end(): Buffer {
    const rest = this.meter.end();
    const stream = this.#stream;
    if (stream === undefined) return this.#wholeAnswer(rest);
    // Some servers end their last event without an empty line.
    const events = [...this.#events.push(rest), this.#events.rest()];
    const last = this.#written((made) => {
      for (const event of events) made.push(...eventsOf(stream, event));
      made.push(...stream.end());
    });
    if (this.#error !== undefined) throw this.#broken(this.#error);
    return Buffer.concat([last, Buffer.from(this.form.endMark)]);
  }

  /** Why the answer could not be translated: it is an error, or broken. */
  get error(): GatewayError | undefined {
    return this.#error;
  }

  /** The id of a response, as the caller received it. */
  get answerId(): string | undefined {
    return this.#answerId;
  }

  get usage(): ReportedUsage {
    return this.meter.usage;
  }

  get hasOutput(): boolean {
    return this.meter.hasOutput;
  }

  get answer(): AnswerFacts | undefined {
    return this.meter.answer;
  }

  get hasError(): boolean {
    return this.meter.hasError === true;
  }

  get failure(): JsonObject | undefined {
    return this.meter.failure;
  }

  /** Translates a whole answer. Its error is kept for later, since the call succeeded and is charged. */
  #wholeAnswer(rest: Buffer): Buffer {
    try {
      const answer = withoutList(parseForTranslation(Buffer.concat([...this.#whole, rest])));
      if (!isObject(answer)) throw invalidAnswer('an answer that is not a JSON object');
      return Buffer.from(stringifyLongNumbers(this.translation.toAnswer(answer)));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#error = error;
      return NO_BYTES;
    }
  }

  /**
   * The text of the events that `work` adds. Its error ends the stream with the next bytes, or at once without events.
   */
  #written(work: (events: JsonObject[]) => void): Buffer {
    if (this.#error !== undefined) throw this.#broken(this.#error);
    const events: JsonObject[] = [];
    try {
      work(events);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#error = error;
      if (events.length === 0) throw this.#broken(error);
    }
    this.#answerId ??= idIn(events[0]);
    return events.length === 0 ? NO_BYTES : Buffer.from(events.map((event) => this.form.toText(event)).join(''));
  }

  /** The received part is charged, as for a stream that its provider breaks off. */
  #broken(cause: GatewayError): UpstreamFailure {
    return new UpstreamFailure('incomplete', 'the stream cannot be translated', { cause });
  }
}

function idIn(event: JsonObject | undefined): string | undefined {
  const response = event?.['response'];
  return isObject(response) ? stringOrUndefined(response['id']) : undefined;
}

function eventsOf(stream: StreamTranslation, event: Buffer): readonly JsonObject[] {
  if (event.length === 0) return [];
  const { data } = readEvent(event);
  if (data === undefined || data === '') return [];
  if (data.trim() === DONE) return stream.push(STREAM_END);
  const message = withoutList(parseForTranslation(data));
  if (!isObject(message)) throw invalidAnswer('an event that is not a JSON object');
  return stream.push(message);
}
