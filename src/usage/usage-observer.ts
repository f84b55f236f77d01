import type { ReserveOutcome } from './usage-store.types.js';

/** Injection token of the process's UsageObserver. */
export const USAGE_OBSERVER = Symbol('USAGE_OBSERVER');

/** Receives the events of a usage store, for metrics. Must not throw. */
export interface UsageObserver {
  /** One round trip to the database. */
  batchDone(size: number, seconds: number): void;
  batchFailed(cause: unknown): void;
  decided(decision: ReserveOutcome['kind'] | 'unavailable'): void;
  /** Settlements, releases and the like that were given up: their calls are presumed spent later on, or (`record`) missing. */
  dropped(count: number): void;
  /** Calls that are settled as presumed because their gateway died. */
  reaped(count: number): void;
  /** Of all gateways together. */
  reservationsOpen(count: number): void;
}
