/** Counts calls under way, for whoever waits until there are none. */
export class RunningCalls {
  #running = 0;
  #onIdle: (() => void) | undefined;

  begin(): void {
    this.#running += 1;
  }

  /** Once for each `begin`, so in a `finally`. */
  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  /** Resolves when no call runs, or when `maxMs` have passed. For one waiter. */
  idle(maxMs?: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) return resolve();
      const timer = maxMs === undefined ? undefined : setTimeout(resolve, maxMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
