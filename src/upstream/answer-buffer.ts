import { BodyBuffer } from '../common/http/body-buffer.js';
import { firstHeader } from './upstream-headers.js';
import { UpstreamFailure, type UpstreamHeaders } from './upstream.types.js';

/** The body of one answer in memory, up to a bound. */
export class AnswerBuffer {
  readonly #chunks = new BodyBuffer();

  constructor(
    private readonly host: string,
    private readonly maxBytes: number,
  ) {}

  /** The failure when the head already announces too much. */
  checkHead(headers: UpstreamHeaders): UpstreamFailure | undefined {
    return Number(firstHeader(headers, 'content-length') ?? 0) > this.maxBytes ? this.#tooLarge() : undefined;
  }

  /** The failure when this chunk is one too many. */
  add(chunk: Buffer): UpstreamFailure | undefined {
    if (this.#chunks.size + chunk.length > this.maxBytes) return this.#tooLarge();
    this.#chunks.push(chunk);
    return undefined;
  }

  join(): Buffer {
    return this.#chunks.take();
  }

  #tooLarge(): UpstreamFailure {
    return new UpstreamFailure('too_large', `${this.host} sent more than ${this.maxBytes} bytes`);
  }
}
