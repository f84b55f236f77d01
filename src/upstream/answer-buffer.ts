import { firstHeader } from './upstream-headers.js';
import { UpstreamFailure, type UpstreamHeaders } from './upstream.types.js';

/** The body of one answer in memory, up to a bound. */
export class AnswerBuffer {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

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
    this.#bytes += chunk.length;
    if (this.#bytes > this.maxBytes) return this.#tooLarge();
    this.#chunks.push(chunk);
    return undefined;
  }

  join(): Buffer {
    const [first] = this.#chunks;
    // A chunk is a view of a buffer that Node filled for it alone, so the only one can be handed on without a copy.
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes);
  }

  #tooLarge(): UpstreamFailure {
    return new UpstreamFailure('too_large', `${this.host} sent more than ${this.maxBytes} bytes`);
  }
}
