import { Writable } from 'node:stream';
import { withoutByteOrderMark } from '../../common/json/read.js';

const LF = 0x0a;
const NO_BYTES = Buffer.alloc(0);

export interface LineBounds {
  /** The limit of the whole file. */
  readonly bytes: number;
  readonly lineBytes: number;
  readonly lines: number;
}

/** The text exceeds a limit of its reader. */
export class TooLargeError extends Error {}

/** Reads a text line by line as it arrives, since it may be too large for memory. */
export class LineReader extends Writable {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #lines = 0;

  /**
   * @param onLine gets each line that is not blank, and its number from 1. An error that it throws ends the reading.
   */
  constructor(
    private readonly onLine: (line: Buffer, number: number) => void,
    private readonly bounds: LineBounds,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#attempt(() => this.#read(chunk), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#attempt(() => this.#endLine(NO_BYTES), done);
  }

  #attempt(work: () => void, done: (error?: Error | null) => void): void {
    try {
      work();
    } catch (error) {
      return done(error instanceof Error ? error : new Error('a line cannot be read', { cause: error }));
    }
    done();
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.bounds.bytes) throw new TooLargeError(`more than ${this.bounds.bytes} bytes`);
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.bounds.lineBytes)
      throw new TooLargeError(`line ${this.#lines + 1} has more than ${this.bounds.lineBytes} bytes`);
    if (part.length > 0) this.#pending.push(part);
  }

  #endLine(rest: Buffer): void {
    this.#keep(rest);
    const text = Buffer.concat(this.#pending);
    const line = this.#lines === 0 ? withoutByteOrderMark(text) : text;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#lines += 1;
    if (!line.some((byte) => byte > 0x20)) return;
    if (this.#lines > this.bounds.lines) throw new TooLargeError(`more than ${this.bounds.lines} lines`);
    this.onLine(line, this.#lines);
  }
}
