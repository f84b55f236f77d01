/** How slowly a body may arrive. */
export interface BodyPace {
  /** Milliseconds in which `leastBytes` must arrive. */
  readonly silenceMs: number;
  /** Default 1. */
  readonly leastBytes?: number;
  /** Milliseconds for the whole body; by default unbounded. */
  readonly totalMs?: number;
}

/** Bounds the wait for a body of a client: the silence in it, and the time in all. */
export class BodyTimer {
  readonly #silence: NodeJS.Timeout;
  readonly #whole: NodeJS.Timeout | undefined;
  readonly #leastBytes: number;
  /** How many bytes must still arrive in the current interval. */
  #missingBytes: number;

  constructor({ silenceMs, leastBytes = 1, totalMs }: BodyPace, onLate: () => void) {
    this.#silence = setTimeout(onLate, silenceMs);
    this.#whole = totalMs === undefined ? undefined : setTimeout(onLate, totalMs);
    this.#leastBytes = leastBytes;
    this.#missingBytes = leastBytes;
  }

  /** Call it when data has arrived, never after `stop`: `refresh` would revive the cleared timer. */
  moved(bytes: number): void {
    this.#missingBytes -= bytes;
    if (this.#missingBytes > 0) return;
    this.#missingBytes = this.#leastBytes;
    this.#silence.refresh();
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
  }
}
