import { Writable } from 'node:stream';

/** Of a beginning without output. What is longer goes on. */
const MAX_HELD_BYTES = 65_536;

export interface HeldStreamPlan {
  /** Begins the answer. Called once, when it is clear that the stream is to go on. */
  readonly begin: () => Writable;
  /** Whether the bytes that were written so far have some of the model's output. */
  readonly hasOutput: () => boolean;
  /** Whether they are an error that another target may do better than. */
  readonly hasFailed: () => boolean;
  /** Until the id of the answer is written down: its caller may use it at once, and at another gateway. */
  readonly recording?: () => Promise<void> | undefined;
}

/**
 * Holds the beginning of a stream back until some of the model's output has come, so that another target can take the call while
 * its caller has seen nothing, and until its id is written down. Then it passes everything on, byte for byte.
 */
export class HeldStream extends Writable {
  #held: (Buffer | string)[] = [];
  #heldBytes = 0;
  #out: Writable | undefined;

  constructor(private readonly plan: HeldStreamPlan) {
    super({ decodeStrings: false });
  }

  /** Whether the caller has got nothing, and will get nothing, of a stream that is complete. */
  get isFailed(): boolean {
    return this.#out === undefined && this.plan.hasFailed();
  }

  /** From now on, nothing is held back except until the id is recorded. */
  begin(): void {
    this.#begin();
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const recording = this.plan.recording?.();
    if (recording === undefined) return this.#take(chunk, done);
    const go = (): void => this.#take(chunk, done);
    recording.then(go, go);
  }

  #take(chunk: Buffer | string, done: () => void): void {
    if (this.#out !== undefined) return passTo(this.#out, chunk, done);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.plan.hasOutput() || this.#heldBytes > MAX_HELD_BYTES) passTo(this.#begin(), undefined, done);
    else done();
  }

  override _final(done: () => void): void {
    if (!this.isFailed) (this.#out ?? this.#begin()).end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // After `end`, what was written is still on its way.
    if (this.#out?.writableEnded === false) this.#out.destroy();
    done(error);
  }

  #begin(): Writable {
    const out = this.plan.begin();
    out.on('error', () => undefined);
    for (const chunk of this.#held) out.write(chunk);
    this.#held = [];
    this.#out = out;
    return out;
  }
}

/** Waits for a receiver that is slower. One that is gone takes everything. */
function passTo(out: Writable, chunk: Buffer | string | undefined, done: () => void): void {
  const isFree = chunk === undefined ? !out.writableNeedDrain : out.write(chunk);
  if (out.destroyed || isFree) return done();
  const go = (): void => {
    out.off('drain', go).off('close', go);
    done();
  };
  out.on('drain', go).on('close', go);
}
