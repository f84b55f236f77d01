/** Each Buffer costs some hundred bytes extra. Smaller chunks are copied together, larger ones are kept. */
const SMALL_BYTES = 4 * 1024;
const MAX_BLOCK_BYTES = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/** Collects the chunks of a body. Uses at most about twice the memory of the body, however small the chunks are. */
export class BodyBuffer {
  private pieces: Buffer[] = [];
  /** Bytes. */
  size = 0;
  /** The free rest of the block that small chunks are copied into, and how much of it is filled but not yet sealed. */
  private block = NOTHING;
  private filled = 0;

  push(chunk: Buffer): void {
    if (chunk.length >= SMALL_BYTES || this.size === 0) {
      if (this.filled > 0) this.seal();
      if (chunk.length > 0) this.pieces.push(chunk);
    } else {
      this.copy(chunk);
    }
    this.size += chunk.length;
  }

  /** Returns all bytes in one buffer and empties this one. */
  take(): Buffer {
    if (this.filled > 0) this.seal();
    const [first = NOTHING, ...others] = this.pieces;
    const whole = others.length === 0 ? first : Buffer.concat(this.pieces, this.size);
    this.clear();
    return whole;
  }

  clear(): void {
    this.pieces = [];
    this.size = 0;
    this.block = NOTHING;
    this.filled = 0;
  }

  private copy(chunk: Buffer): void {
    if (this.block.length - this.filled < chunk.length) {
      if (this.filled > 0) this.seal();
      this.block = Buffer.allocUnsafe(Math.min(Math.max(this.size, SMALL_BYTES), MAX_BLOCK_BYTES));
    }
    this.filled += chunk.copy(this.block, this.filled);
  }

  private seal(): void {
    this.pieces.push(this.block.subarray(0, this.filled));
    this.block = this.block.subarray(this.filled);
    this.filled = 0;
  }
}
