import { Writable } from 'node:stream';

/** Takes everything at once. */
export class Collector extends Writable {
  readonly chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }
}

/** Takes one chunk, and the next one when told to. */
export class Valve extends Writable {
  receivedBytes = 0;
  #next: (() => void) | undefined;
  #open = false;

  constructor(highWaterMark = 1) {
    super({ highWaterMark });
  }

  open(): void {
    this.#open = true;
    this.#next?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.receivedBytes += chunk.length;
    if (this.#open) setImmediate(done);
    else this.#next = done;
  }
}
