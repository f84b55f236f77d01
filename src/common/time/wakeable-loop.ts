/**
 * Runs a function at an interval, and immediately when woken. Runs never overlap. A wake-up during a run causes another
 * run.
 */
export class WakeableLoop {
  #timer: NodeJS.Timeout | undefined;
  #run: Promise<void> | undefined;
  #wanted = false;
  #isRunning = false;
  readonly #stopping = new AbortController();

  /** @param turn must not reject */
  constructor(
    private readonly turn: () => Promise<void>,
    private readonly intervalMs: number,
  ) {}

  /** For long turns: whether to stop early. */
  get isStopped(): boolean {
    return this.signal.aborted;
  }

  /** For statements and requests of a turn that should not hold up the stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The first call starts the loop. */
  wake(): void {
    if (this.isStopped) return;
    this.#wanted = true;
    if (!this.#isRunning) this.#run = this.#takeTurns();
  }

  /** Resolves when the current turn is over. No turn follows it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#run;
  }

  async #takeTurns(): Promise<void> {
    this.#isRunning = true;
    clearTimeout(this.#timer);
    while (this.#wanted && !this.isStopped) {
      this.#wanted = false;
      await this.turn();
    }
    this.#isRunning = false;
    // Does not keep the process alive: the next process will do the work that is due.
    if (!this.isStopped) this.#timer = setTimeout(() => this.wake(), this.intervalMs).unref();
  }
}
