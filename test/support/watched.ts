import { collectGarbage } from './collect-garbage.js';

/** Objects that a test hands out, to check whether they are still in memory. */
export class Watched<Value extends WeakKey> {
  readonly #handed: WeakRef<Value>[] = [];

  hand(value: Value): Value {
    this.#handed.push(new WeakRef(value));
    return value;
  }

  /** The number of objects that are still referenced. */
  async left(): Promise<number> {
    for (let round = 0; round < 3; round += 1) {
      // A WeakRef keeps its target until the end of the job in which it was read.
      await new Promise((done) => setImmediate(done));
      collectGarbage();
    }
    return this.#handed.filter((reference) => reference.deref() !== undefined).length;
  }
}
