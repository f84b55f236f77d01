// Frames of AWS's binary event streams. Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream,
// read 2026-11-28.
import { BodyBuffer } from '../../common/http/body-buffer.js';
import { UpstreamFailure } from '../upstream.types.js';

/** A frame begins with its length, which counts these bytes too. */
const LENGTH_BYTES = 4;
/** Two lengths and their checksum, and the checksum of the frame. */
const LEAST_BYTES = 16;
/** AWS's own bounds: of the headers 128 KiB, of the payload 24 MiB. */
const MOST_BYTES = LEAST_BYTES + 128 * 1024 + 24 * 1024 * 1024;

/** Splits a binary event stream into its frames, without a look at what is in them. */
export class FrameSplitter {
  readonly #held = new BodyBuffer();
  /** Of the frame that has begun; undefined until its length has come. */
  #length: number | undefined;

  /** @throws UpstreamFailure `incomplete` for a length that no frame has */
  push(chunk: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    for (let rest = chunk; rest.length > 0;) {
      const taken = rest.subarray(0, (this.#length ?? LENGTH_BYTES) - this.#held.size);
      this.#held.push(taken);
      rest = rest.subarray(taken.length);
      if (this.#held.size < (this.#length ?? LENGTH_BYTES)) continue;
      if (this.#length === undefined) this.#begin();
      else frames.push(this.#end());
    }
    return frames;
  }

  /** Whether the last frame is complete, and no other has begun. */
  get isBetweenFrames(): boolean {
    return this.#held.size === 0;
  }

  #begin(): void {
    const prelude = this.#held.take();
    const length = prelude.readUInt32BE(0);
    if (length < LEAST_BYTES || length > MOST_BYTES)
      throw new UpstreamFailure('incomplete', 'the stream has a frame of an impossible length');
    this.#held.push(prelude);
    this.#length = length;
  }

  #end(): Buffer {
    this.#length = undefined;
    return this.#held.take();
  }
}
