import { RunningCalls } from '../upstream/running-calls.js';

/** Counts the deliveries under way in this gateway, all and for each endpoint. */
export class RunningDeliveries {
  readonly #calls = new RunningCalls();
  readonly #byEndpoint = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get byEndpoint(): ReadonlyMap<string, number> {
    return this.#byEndpoint;
  }

  async during(endpointId: string, work: () => Promise<void>): Promise<void> {
    this.#count(endpointId, 1);
    this.#calls.begin();
    try {
      await work();
    } finally {
      this.#calls.end();
      this.#count(endpointId, -1);
    }
  }

  /** Resolves when none is under way, or when `maxMs` have passed. */
  idle(maxMs?: number): Promise<void> {
    return this.#calls.idle(maxMs);
  }

  #count(endpointId: string, change: 1 | -1): void {
    this.#total += change;
    const running = (this.#byEndpoint.get(endpointId) ?? 0) + change;
    if (running === 0) this.#byEndpoint.delete(endpointId);
    else this.#byEndpoint.set(endpointId, running);
  }
}
