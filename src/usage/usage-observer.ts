import type { ReserveOutcome } from './usage-store.types.js';

/** Injection token of the process's UsageObserver. */
export const USAGE_OBSERVER = Symbol('USAGE_OBSERVER');

/** Receives the events of a usage store, for metrics. Must not throw. */
export interface UsageObserver {
  /** One round trip to the database. */
  batchDone(size: number, seconds: number): void;
  batchFailed(cause: unknown): void;
  decided(decision: ReserveOutcome['kind'] | 'unavailable'): void;
  /**
   * Settlements, releases and records that were given up. Their calls are presumed spent later on; records are missing.
   */
  dropped(count: number): void;
  /** Calls that are settled as presumed because their gateway died. */
  reaped(count: number): void;
  /** The open reservations of all gateways. */
  reservationsOpen(count: number): void;
}
