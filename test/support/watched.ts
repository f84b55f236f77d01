import { collectGarbage } from './collect-garbage.js';

/** Objects that a test lets others have, to see whether they are still in memory. */
export class Watched<Value extends WeakKey> {
  readonly #handed: WeakRef<Value>[] = [];

  hand(value: Value): Value {
    this.#handed.push(new WeakRef(value));
    return value;
  }

  /** How many of them somebody still keeps. */
  async left(): Promise<number> {
    for (let round = 0; round < 3; round += 1) {
      // A WeakRef keeps what it has shown until the end of the job.
      await new Promise((done) => setImmediate(done));
      collectGarbage();
    }
    return this.#handed.filter((reference) => reference.deref() !== undefined).length;
  }
}
