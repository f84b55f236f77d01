import { RunningCalls } from '../common/running-calls.js';
import type { ClaimedEndpoint } from './claimed-delivery.js';

/** Counts the deliveries in flight in this gateway: in total, per endpoint and per organisation. */
export class RunningDeliveries {
  readonly #calls = new RunningCalls();
  readonly #byEndpoint = new Map<string, number>();
  readonly #byOrganisation = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get byEndpoint(): ReadonlyMap<string, number> {
    return this.#byEndpoint;
  }

  get byOrganisation(): ReadonlyMap<string, number> {
    return this.#byOrganisation;
  }

  async during(endpoint: Pick<ClaimedEndpoint, 'id' | 'organisationId'>, work: () => Promise<void>): Promise<void> {
    this.#count(endpoint, 1);
    this.#calls.begin();
    try {
      await work();
    } finally {
      this.#calls.end();
      this.#count(endpoint, -1);
    }
  }

  /** Resolves when none is in flight, or when `maxMs` have passed. */
  idle(maxMs?: number): Promise<void> {
    return this.#calls.idle(maxMs);
  }

  #count({ id, organisationId }: Pick<ClaimedEndpoint, 'id' | 'organisationId'>, change: 1 | -1): void {
    this.#total += change;
    addTo(this.#byEndpoint, id, change);
    addTo(this.#byOrganisation, organisationId, change);
  }
}

function addTo(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const running = (counts.get(key) ?? 0) + change;
  if (running === 0) counts.delete(key);
  else counts.set(key, running);
}
