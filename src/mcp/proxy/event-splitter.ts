import { UpstreamFailure } from '../../upstream/upstream.types.js';

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/**
 * Cuts an event stream into its events without changing a byte: each piece ends with the blank line that ends its event.
 * Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5).
 */
export class EventSplitter {
  #held: Buffer = NOTHING;
  /** Where in `#held` to go on reading. */
  #at = 0;
  #lineIsEmpty = true;
  #afterCr = false;

  constructor(private readonly maxEventBytes: number) {}

  /** @throws UpstreamFailure `too_large` when an event is longer than the limit */
  push(chunk: Buffer): readonly Buffer[] {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const events: Buffer[] = [];
    let start = 0;
    for (; this.#at < this.#held.length; this.#at += 1) {
      if (!this.#endsEvent(this.#held[this.#at])) continue;
      // The LF of a CRLF belongs to its CR; when it has not come yet, it leads the next piece, where readers skip it.
      const end = this.#at + (this.#afterCr && this.#held[this.#at + 1] === LF ? 2 : 1);
      events.push(this.#held.subarray(start, end));
      if (end === this.#at + 2) this.#afterCr = false;
      this.#at = end - 1;
      start = end;
    }
    this.#held = this.#held.subarray(start);
    this.#at -= start;
    if (this.#held.length > this.maxEventBytes) throw new UpstreamFailure('too_large', 'an event is too long');
    return events;
  }

  /** What has come of an event that is not over. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = NOTHING;
    this.#at = 0;
    return rest;
  }

  #endsEvent(byte: number | undefined): boolean {
    const isSecondOfCrlf = byte === LF && this.#afterCr;
    this.#afterCr = byte === CR;
    if (isSecondOfCrlf) return false;
    if (byte !== LF && byte !== CR) {
      this.#lineIsEmpty = false;
      return false;
    }
    const ends = this.#lineIsEmpty;
    this.#lineIsEmpty = true;
    return ends;
  }
}

export interface ReadEvent {
  /** `message` where the event names none. */
  readonly type: string;
  /** Undefined for an event without data: a comment, a `retry`. */
  readonly data: string | undefined;
}

export function readEvent(event: Buffer): ReadEvent {
  let type = 'message';
  const data: string[] = [];
  for (const line of linesOf(event)) {
    if (fieldOf(line) === 'event') type = valueOf(line) || 'message';
    else if (fieldOf(line) === 'data') data.push(valueOf(line));
  }
  return { type, data: data.length === 0 ? undefined : data.join('\n') };
}

/** The event with other data, which must be one line; its other fields stay. */
export function withData(event: Buffer, data: string): Buffer {
  const kept = linesOf(event).filter((line) => line !== '' && fieldOf(line) !== 'data');
  return Buffer.from(`${[...kept, `data: ${data}`].join('\n')}\n\n`);
}

function linesOf(event: Buffer): readonly string[] {
  // A stream may begin with a byte order mark, which is no part of its first field's name.
  return event
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .split(/\r\n|\r|\n/);
}

function fieldOf(line: string): string {
  const colon = line.indexOf(':');
  return colon < 0 ? line : line.slice(0, colon);
}

function valueOf(line: string): string {
  const colon = line.indexOf(':');
  if (colon < 0) return '';
  return line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
}
