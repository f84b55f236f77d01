/** Lets other requests have their turn after each portion of work, so that one large piece does not stop the process. */
export class Turns {
  #done = 0;

  constructor(private readonly unitsPerTurn: number) {}

  /** Counts work; true when it is time to `await next()`. A separate step, since each `await` costs more than most units. */
  spent(units: number): boolean {
    this.#done += units;
    return this.#done >= this.unitsPerTurn;
  }

  next(): Promise<void> {
    this.#done = 0;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
