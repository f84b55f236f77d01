// Frames of AWS's binary event streams. Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream,
// read 2026-11-28.
import { BodyBuffer } from '../../common/http/body-buffer.js';
import { UpstreamFailure } from '../upstream.types.js';

/** A frame begins with its length, which counts these bytes too. */
const LENGTH_BYTES = 4;
/** The size of two lengths, their checksum, and the checksum of the frame. */
const LEAST_BYTES = 16;
/** AWS's own limits: 128 KiB for the headers, 24 MiB for the payload. */
const MOST_BYTES = LEAST_BYTES + 128 * 1024 + 24 * 1024 * 1024;

/** Splits a binary event stream into its frames, without reading their contents. */
export class FrameSplitter {
  readonly #held = new BodyBuffer();
  /** The length of the current frame; undefined until it has arrived. */
  #length: number | undefined;

  /** @throws UpstreamFailure `incomplete` for an impossible length */
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
