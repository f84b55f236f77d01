import { BodyBuffer } from '../../common/http/body-buffer.js';
import { UpstreamFailure } from '../upstream.types.js';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits an event stream into its events without changing a byte: each piece ends with the blank line that ends its event.
 * Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5). Each byte is read once, however the chunks are cut.
 */
export class EventSplitter {
  /** The bytes of an incomplete event. */
  readonly #held = new BodyBuffer();
  #lineIsEmpty = true;
  #afterCr = false;

  /** @param longEvents `split` returns an event beyond the limit in several pieces */
  constructor(
    private readonly maxEventBytes: number,
    private readonly longEvents: 'refuse' | 'split' = 'refuse',
  ) {}

  /** @throws UpstreamFailure `too_large` when an event is longer than the limit, unless such events are split */
  push(chunk: Buffer): readonly Buffer[] {
    const events: Buffer[] = [];
    let start = 0;
    let line = 0;
    // Searching for line ends is four times as fast as reading each byte.
    let [lf, cr] = [chunk.indexOf(LF), chunk.indexOf(CR)];
    while (lf >= 0 || cr >= 0) {
      const isCr = lf < 0 || (cr >= 0 && cr < lf);
      const at = isCr ? cr : lf;
      if (isCr) cr = chunk.indexOf(CR, at + 1);
      else lf = chunk.indexOf(LF, at + 1);
      const isSecondOfCrlf = this.#afterCr && !isCr && at === line;
      const endsEvent = this.#lineIsEmpty && at === line && !isSecondOfCrlf;
      this.#lineIsEmpty = true;
      this.#afterCr = isCr;
      line = at + 1;
      if (!endsEvent) continue;
      // The LF of a CRLF belongs to its CR; when it has not arrived yet, the next piece starts with it, and readers skip it.
      if (isCr && lf === line) {
        this.#afterCr = false;
        line += 1;
        lf = chunk.indexOf(LF, line);
      }
      this.#hold(chunk.subarray(start, line), events);
      events.push(this.#held.take());
      start = line;
    }
    if (line < chunk.length) {
      this.#lineIsEmpty = false;
      this.#afterCr = false;
    }
    this.#hold(start === 0 ? chunk : chunk.subarray(start), events);
    return events;
  }

  /** Takes the bytes of an incomplete event. */
  rest(): Buffer {
    return this.#held.take();
  }

  #hold(bytes: Buffer, events: Buffer[]): void {
    if (this.#held.size + bytes.length > this.maxEventBytes) {
      if (this.longEvents === 'refuse') throw new UpstreamFailure('too_large', 'an event is too long');
      if (this.#held.size > 0) events.push(this.#held.take());
    }
    this.#held.push(bytes);
  }
}

export interface ReadEvent {
  /** `message` when the event names no type. */
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

/** Replaces the data of an event, in lines that end in LF. Its other fields stay. */
export function withData(event: Buffer, data: string): Buffer {
  const kept = linesOf(event).filter((line) => line !== '' && fieldOf(line) !== 'data');
  const lines = data.split('\n').map((line) => `data: ${line}`);
  return Buffer.from(`${[...kept, ...lines].join('\n')}\n\n`);
}

function linesOf(event: Buffer): readonly string[] {
  // A stream may begin with a byte order mark, which does not belong to the name of the first field.
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
