import type { TestClock } from '../../../test/support/test-clock.js';
import type { BucketKey, FigureSource, UsageStore } from '../usage-store.types.js';

export interface SeenBucket {
  readonly used: bigint;
  readonly reserved: bigint;
  readonly epoch: number;
}

export interface SeenEvent {
  readonly id: string;
  readonly costNano: bigint;
  readonly tokens: bigint;
  readonly source: FigureSource;
  /** Of the buckets, in the order of the reservation's charges. */
  readonly amounts: readonly bigint[];
}

/** A store that is tested, and what can be seen of its insides. */
export interface TestedStore {
  readonly store: UsageStore;
  readonly clock: TestClock;
  /** undefined: there is no such bucket. */
  bucket(key: BucketKey): Promise<SeenBucket | undefined>;
  /** Whether it is marked as used up. */
  isExhausted(key: BucketKey): Promise<boolean>;
  ledger(): Promise<readonly SeenEvent[]>;
  openReservations(): Promise<number>;
  /** Types of the alerts that were raised, in alphabetical order. */
  alerts(): Promise<readonly string[]>;
  /** What adjustments added, in order of time. */
  adjustments(): Promise<readonly bigint[]>;
  /** Buckets whose counter is not the sum of ledger and adjustments. */
  drifting(): Promise<readonly unknown[]>;
  /** Brings a counter to what would take thousands of calls, by an adjustment. */
  fill(key: BucketKey, used: bigint): Promise<void>;
  /** Loses a reservation, as a store that falls back on an older copy of its data would. */
  lose(id: string): Promise<void>;
}

export interface StoreHarness {
  readonly name: string;
  start(): Promise<StartedHarness>;
}

export interface StartedHarness {
  /** An empty store. */
  open(maxBuckets: number): Promise<TestedStore>;
  stop(): Promise<void>;
}
