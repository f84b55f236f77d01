/** Counts calls in flight and lets one waiter wait until there are none. */
export class RunningCalls {
  #running = 0;
  #onIdle: (() => void) | undefined;

  begin(): void {
    this.#running += 1;
  }

  /** Call it once for each `begin`, in a `finally`. */
  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  /** Resolves when no call is in flight, or after `maxMs`. Supports one waiter. */
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
