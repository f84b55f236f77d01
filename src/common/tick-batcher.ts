/** Larger batches gain little, and the first step would wait for the last. */
const MAX_STEPS = 64;

/**
 * Collects steps until the end of the event loop's turn and runs them together. Requests that start together also
 * continue together after each `await`, so the processor finds their code in its caches. Their writes are sent together
 * too, so that a sleeping receiver wakes once (docs/decisions/0023-work-in-turns.md).
 *
 * A step must not throw, or the other steps of its turn are lost.
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
