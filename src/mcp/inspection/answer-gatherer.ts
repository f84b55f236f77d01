import { BodyBuffer } from '../../common/http/body-buffer.js';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';

/** A shared limit for the bytes that all gatherers hold. */
export class GatheredBytes {
  #held = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns whether there was room. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.maxBytes) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Keeps a copy of one forwarded answer. An answer that is too long is dropped, as if it had not been watched. */
export class AnswerGatherer implements BodyWatcher {
  #chunks: BodyBuffer | undefined = new BodyBuffer();

  /** @param done gets the body once, and must return its size to `bytes` */
  constructor(
    private readonly maxBytes: number,
    private readonly bytes: GatheredBytes,
    private readonly done: (body: Buffer) => void,
  ) {}

  push(chunk: Buffer): void {
    const chunks = this.#chunks;
    if (chunks === undefined) return;
    if (chunks.size + chunk.length > this.maxBytes || !this.bytes.take(chunk.length)) return this.#letGo(chunks);
    chunks.push(chunk);
  }

  end(): void {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    if (chunks !== undefined && chunks.size > 0) this.done(chunks.take());
  }

  #letGo({ size }: BodyBuffer): void {
    this.#chunks = undefined;
    this.bytes.give(size);
  }
}
