/**
 * Resumes one task per round of the event loop, so that requests and responses are handled in between, however many
 * tasks there are.
 */
export class CooperativeScheduler {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#callNext();
    });
  }

  #callNext(): void {
    setImmediate(() => {
      // The resumed task runs before the next round.
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#callNext();
    });
  }
}

/** Counts the work of one request and reports when its turn is over. */
export class Turns {
  #done = 0;

  constructor(
    private readonly queue: CooperativeScheduler,
    private readonly unitsPerTurn: number,
  ) {}

  /** True when it is time to `await next()`. A separate step, since each `await` costs more than most units. */
  spent(units: number): boolean {
    this.#done += units;
    return this.#done >= this.unitsPerTurn;
  }

  next(): Promise<void> {
    this.#done = 0;
    return this.queue.next();
  }
}
