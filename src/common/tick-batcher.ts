/** More than this gains little, and the first would wait for the last. */
const MAX_STEPS = 64;

/**
 * Steps that wait for the end of the event loop's turn, and are then taken together. Each request by itself would run through
 * all code there is on its way, and the next one find none of it in the processor's caches; of requests that begin together,
 * also what they await is taken step by step, each step for all of them: promises that are settled are served in their order.
 * What they write goes out together as well, so that a sleeping receiver is woken once (docs/decisions/0023-work-in-turns.md).
 *
 * A step must not throw: the others of its turn would be lost.
 */
export class TickBatcher {
  private waiting: (() => void)[] = [];

  add(step: () => void): void {
    if (this.waiting.push(step) === 1) setImmediate(this.take);
  }

  private readonly take = (): void => {
    const steps = this.waiting;
    this.waiting = steps.length > MAX_STEPS ? steps.splice(MAX_STEPS) : [];
    if (this.waiting.length > 0) setImmediate(this.take);
    for (const step of steps) step();
  };
}
