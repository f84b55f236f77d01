import { Writable } from 'node:stream';

/** The most bytes without output that are held back. */
const MAX_HELD_BYTES = 65_536;

export interface HeldStreamPlan {
  /** Begins the answer. Called once, when the stream is to be forwarded. */
  readonly begin: () => Writable;
  /** Whether the bytes so far contain output of the model. */
  readonly hasOutput: () => boolean;
  /** Whether the bytes so far are an error, and another target may succeed. */
  readonly hasFailed: () => boolean;
  /** Pending until the id of the answer is recorded. The client may use the id at once, at another replica. */
  readonly recording?: () => Promise<void> | undefined;
}

/**
 * Holds back the beginning of a stream until output of the model arrives, so that another target can take the call, and
 * until the id is recorded. Then it forwards everything byte for byte.
 */
export class HeldStream extends Writable {
  #held: (Buffer | string)[] = [];
  #heldBytes = 0;
  #out: Writable | undefined;

  constructor(private readonly plan: HeldStreamPlan) {
    super({ decodeStrings: false });
  }

  /** Whether the stream is complete and the client received nothing of it. */
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
    // After `end`, written bytes may still be in flight.
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

/** Writes, and waits for a slow receiver. For a receiver that is gone, the bytes are dropped. */
function passTo(out: Writable, chunk: Buffer | string | undefined, done: () => void): void {
  const isFree = chunk === undefined ? !out.writableNeedDrain : out.write(chunk);
  if (out.destroyed || isFree) return done();
  const go = (): void => {
    out.off('drain', go).off('close', go);
    done();
  };
  out.on('drain', go).on('close', go);
}
