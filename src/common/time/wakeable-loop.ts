/** Takes turns: at an interval, and at once when woken. Never two at a time, and none is lost that was asked for meanwhile. */
export class WakeableLoop {
  #timer: NodeJS.Timeout | undefined;
  #run: Promise<void> | undefined;
  #wanted = false;
  #isRunning = false;
  #isStopped = false;

  /** @param turn must not reject */
  constructor(
    private readonly turn: () => Promise<void>,
    private readonly intervalMs: number,
  ) {}

  /** For turns that take long: whether to break off. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The first call starts the loop. */
  wake(): void {
    if (this.#isStopped) return;
    this.#wanted = true;
    if (!this.#isRunning) this.#run = this.#takeTurns();
  }

  /** Resolves when the turn under way is over; there is none after it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#run;
  }

  async #takeTurns(): Promise<void> {
    this.#isRunning = true;
    clearTimeout(this.#timer);
    while (this.#wanted && !this.#isStopped) {
      this.#wanted = false;
      await this.turn();
    }
    this.#isRunning = false;
    // Holds no process: what is due is due for the next one as well.
    if (!this.#isStopped) this.#timer = setTimeout(() => this.wake(), this.intervalMs).unref();
  }
}
