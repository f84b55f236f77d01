import {
  isObject,
  type JsonObject,
  numberOrUndefined,
  parseForeignJson,
  stringOrUndefined,
} from '../../../common/json/read.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../../../gateway/billable-use.js';
import { AWS_EVENTS, readAwsEvent } from '../../../upstream/streams/aws-events.js';
import { FrameSplitter } from '../../../upstream/streams/frame-splitter.js';
import { firstHeader, type UpstreamHead } from '../../../upstream/upstream.types.js';
import type { Counts, QuantityUnit } from '../../../usage/units.js';

const NO_BYTES = Buffer.alloc(0);

/** The headers with the usage of a non-streamed answer, for all models. */
const COUNT_HEADERS: readonly (readonly [unit: QuantityUnit, header: string])[] = [
  ['input', 'x-amzn-bedrock-input-token-count'],
  ['output', 'x-amzn-bedrock-output-token-count'],
  ['cache_read', 'x-amzn-bedrock-cache-read-input-token-count'],
  ['cache_write_5m', 'x-amzn-bedrock-cache-write-input-token-count'],
];

/** The HTTP status of each exception within a stream. Source: the API reference of ConverseStream, read 2026-11-28. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['validationException', 400],
  ['throttlingException', 429],
  ['modelTimeoutException', 408],
  ['modelStreamErrorException', 424],
  ['internalServerException', 500],
  ['serviceUnavailableException', 503],
]);

/** Converts a frame to the data of a server-sent event. */
export type EventText = (name: string, payload: Buffer) => string | undefined;

export interface FramedOptions {
  /** Meters the events, converted to server-sent ones. */
  readonly meter: StreamMeter;
  readonly toText: EventText;
  /** Whether the receiver wants server-sent events instead of frames. */
  readonly isTranslated: boolean;
}

/** Meters an answer of Bedrock: JSON with the usage in its headers, or a binary event stream. */
export class FramedMeter implements StreamMeter {
  /** undefined unless the answer is a binary event stream. */
  #frames: FrameSplitter | undefined;
  #ofHead: Counts | undefined;

  constructor(private readonly options: FramedOptions) {}

  noteHead({ headers }: UpstreamHead): void {
    const type = firstHeader(headers, 'content-type')?.toLowerCase() ?? '';
    if (type.startsWith(AWS_EVENTS)) this.#frames = new FrameSplitter();
    const found = COUNT_HEADERS.map(([unit, name]) => [unit, countIn(firstHeader(headers, name))] as const);
    const there = found.filter(([, count]) => count !== undefined);
    this.#ofHead = there.length === 0 ? undefined : Object.fromEntries(there);
  }

  push(chunk: Buffer): Buffer {
    const { meter, isTranslated } = this.options;
    if (this.#frames === undefined) return meter.push(chunk);
    const events = this.#eventsOf(this.#frames, chunk);
    if (events.length > 0) meter.push(events);
    return isTranslated ? events : chunk;
  }

  end(): Buffer {
    const rest = this.options.meter.end();
    return this.options.isTranslated ? rest : NO_BYTES;
  }

  get usage(): ReportedUsage {
    const { usage } = this.options.meter;
    if (this.#frames !== undefined || this.#ofHead === undefined) return usage;
    // The body is more detailed, for example about caches of one hour.
    return {
      ...usage,
      counts: { ...this.#ofHead, ...there(usage.isComputed === true ? {} : usage.counts) },
      isComputed: false,
    };
  }

  get hasOutput(): boolean {
    return this.options.meter.hasOutput;
  }

  get isCutShort(): boolean {
    return this.#frames !== undefined && this.options.meter.isCutShort === true;
  }

  get answer(): AnswerFacts | undefined {
    return this.options.meter.answer;
  }

  get hasError(): boolean {
    return this.options.meter.hasError === true;
  }

  get failure(): JsonObject | undefined {
    return this.options.meter.failure;
  }

  /** Converts a chunk to server-sent events. An unreadable stream is forwarded, and charged as one without usage. */
  #eventsOf(frames: FrameSplitter, chunk: Buffer): Buffer {
    let split: readonly Buffer[];
    try {
      split = frames.push(chunk);
    } catch {
      this.#frames = new FrameSplitter();
      return Buffer.from(lineOf(errorText('brokenStream', 'The provider sent a frame that cannot be read.')));
    }
    return Buffer.from(split.map((frame) => lineOf(this.#textOf(frame))).join(''));
  }

  #textOf(frame: Buffer): string | undefined {
    const event = readAwsEvent(frame);
    if (event === undefined) return errorText('brokenStream', 'The provider sent a frame that cannot be read.');
    const { kind, name, payload } = event;
    if (kind === 'event') return this.options.toText(name, payload);
    const said = parseForeignJson(payload);
    return errorText(name, isObject(said) ? stringOrUndefined(said['message']) : undefined);
  }
}

function errorText(type: string, message: string | undefined): string {
  return JSON.stringify({ error: { type, message: message ?? type, status: STATUSES.get(type) ?? 502 } });
}

/** Line breaks occur only between the values of a JSON text, never within one, so they may become spaces. */
function lineOf(text: string | undefined): string {
  return text === undefined ? '' : `data: ${text.replaceAll(/[\r\n]/g, ' ')}\n\n`;
}

function there(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

function countIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? numberOrUndefined(Number(text)) : undefined;
}
