import type { EntityManager } from 'typeorm';
import type { NanoDollars, UsageUnit } from '../common/money/units.js';
import type { AppliedRate } from './prices/price.types.js';
import type { Quantities } from './units.js';

/** What a call used, or its bound: what it can use at most. The tokens of a policy are the sum of those in `quantities`. */
export interface UsageFigures {
  readonly costNano: NanoDollars;
  readonly quantities: Quantities;
}

/**
 * `provider`: the provider reported it. `computed`: ours, by the provider's rules or as the bound of what came.
 * `presumed`: what happened is not known, so the bound is charged; the truth corrects it later. `capped`: the provider
 * reported more than can be believed, so the bound is charged.
 */
export type FigureSource = 'provider' | 'computed' | 'presumed' | 'capped';

/**
 * How an attempt ended. `failed`: the provider refused it, or the tool failed; `cancelled`: the client left; `unknown`: the provider may have
 * done the work.
 */
export type AttemptOutcome = 'answered' | 'failed' | 'cancelled' | 'unknown';

/** A bucket of a policy in one window of time. */
export interface BucketKey {
  readonly policyId: string;
  /** 22 characters of base64url: the hash of the grouped values. */
  readonly bucketHash: string;
  /** `cum`, `2026-11`, `2026-W47`. */
  readonly windowId: string;
}

/** The limit and alert threshold of a changed policy, for its buckets of one window. */
export interface LimitChange extends Pick<BucketKey, 'policyId' | 'windowId'> {
  readonly organisationId: string;
  /** In the policy's unit, like the threshold. */
  readonly limit: bigint;
  readonly threshold: bigint | undefined;
}

/** One bucket that a call is charged to. */
export interface Charge extends BucketKey {
  /** Readable: `api_key:<id>|metadata.user:alice`. */
  readonly valueKey: string;
  /** The policy's; null: the whole organisation. */
  readonly workspaceId: string | null;
  readonly unit: UsageUnit;
  /** In the policy's unit. */
  readonly limit: bigint;
  /** Reaching it raises an alert. */
  readonly threshold: bigint | undefined;
  /** false: counted, never refused (monitor). */
  readonly enforced: boolean;
  /** When the window ends, for the alert; undefined: never. */
  readonly resetsAt: Date | undefined;
}

/** Who called what: the dimensions of the ledger. Ids and names, never content. */
export interface UsageDimensions {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  /** null: the caller came with a token alone. */
  readonly apiKeyId: string | null;
  readonly virtualKey: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly endpoint: string;
  readonly mcpServer: string | null;
  readonly mcpTool: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly traceId: string;
  /** 1 for the first attempt at the provider. */
  readonly attempt: number;
}

export interface Reservation {
  /** UUIDv7 of the attempt: the idempotency key of all that follows. */
  readonly id: string;
  /** When the call was admitted: decides its windows and its partition of the ledger. */
  readonly at: Date;
  readonly leaseMs: number;
  readonly dimensions: UsageDimensions;
  /** At the dearest price that can apply. */
  readonly bound: UsageFigures;
  readonly rate: AppliedRate;
  readonly charges: readonly Charge[];
}

/** A higher bound for a reservation that is open. */
export interface Extension {
  /** As it was admitted, or as it was extended before. */
  readonly reservation: Reservation;
  /** The new total. What is reserved is not lowered by it: settle gives the rest back. */
  readonly bound: UsageFigures;
  /** The new end of the lease, if it is later than the one before. */
  readonly expiresAt: Date;
}

/** Takes back an extension of a reservation that turned out to be needless. */
export interface Retraction {
  /** Of the reservation. */
  readonly id: string;
  /** The total that the extension has brought. */
  readonly bound: UsageFigures;
  /** The total before it. */
  readonly to: UsageFigures;
}

export interface BucketState extends BucketKey {
  readonly used: bigint;
  readonly reserved: bigint;
  readonly limit: bigint;
}

/**
 * `exceeded`: the call would not fit even with no other in flight. `contended`: only calls in flight use up the room.
 * `crowded`: the policy has as many buckets as it may have.
 */
export type ReserveOutcome =
  | { readonly kind: 'admitted'; readonly buckets: readonly BucketState[] }
  | { readonly kind: 'exceeded' | 'contended' | 'crowded'; readonly failing: readonly BucketState[] };

/** `gone`: the reservation is not open any more (settled, released, or presumed spent); nothing was reserved. */
export type ExtendOutcome = ReserveOutcome | { readonly kind: 'gone'; readonly failing: readonly [] };

export interface Settlement {
  /** As it was admitted: a store that has lost it charges it from here. */
  readonly reservation: Reservation;
  /** What came, which may be a part: the rest of the bound is released. */
  readonly figures: UsageFigures;
  readonly source: FigureSource;
  readonly outcome: AttemptOutcome;
  readonly rate: AppliedRate;
  /** From the start of the attempt to the first token of its answer; null: not a stream, or none came. */
  readonly firstTokenMs: number | null;
}

/** A call that no policy matches: only noted in the ledger. */
export type UnlimitedUsage = Pick<Reservation, 'id' | 'at' | 'dimensions'> & Omit<Settlement, 'reservation'>;

/** A transaction of the caller, on the database in which usage is counted. */
export type Transaction = Pick<EntityManager, 'query'>;

/** Where usage is counted. Every method is atomic, and safe to repeat with the same id (a reset: only once it failed). */
export interface UsageStore {
  /**
   * Admits a call into all of its buckets or into none, within two seconds. A refusal writes nothing, except for the first
   * one by a bucket that something was used of: that marks it as exhausted, and raises the alert.
   * @throws StoreUnavailableError
   */
  reserve(reservation: Reservation): Promise<ReserveOutcome>;
  /**
   * Raises the bound of an open reservation, in all of its buckets or in none, by what is missing up to the new total. The
   * lease gets longer also when the bound does not fit. Answers within two seconds, as `reserve` does.
   * @throws StoreUnavailableError
   */
  extend(extension: Extension): Promise<ExtendOutcome>;
  /** Makes the lease of an open reservation longer. What is reserved stays as it is. */
  prolong(id: string, expiresAt: Date): Promise<void>;
  /**
   * Gives back what an extension has reserved. Where the reservation holds another total, since it was extended further or is not open
   * any more, nothing changes.
   */
  retract(retraction: Retraction): Promise<void>;
  /**
   * Moves the reservation to the true amount, in the windows that admitted it; corrects an amount that was presumed.
   * Kept until it is written, like `release`: callers need not wait for it.
   */
  settle(settlement: Settlement): Promise<void>;
  /**
   * Nothing was sent: gives the reservation back, and leaves no row in the ledger. One that is not known, since it is still
   * on its way, is refused when it arrives.
   */
  release(id: string, at: Date): Promise<void>;
  /** Records usage that no policy limits, after the answer. Usage that has to be dropped is reported to the observer. */
  record(usage: UnlimitedUsage): void;
  /** Writes recorded usage now. Never fails: usage that cannot be written is tried again later. */
  flush(): Promise<void>;
  /** Settles as presumed what was left behind by gateways that died; the number of reservations. */
  reap(now: Date): Promise<number>;
  /**
   * Sets a bucket's usage of its window back to zero by an adjustment. Calls in flight stay reserved.
   * Whether the organisation has such a bucket.
   * @param transaction one that ends soon; else it has its own
   */
  reset(bucket: BucketKey, adjustment: Adjustment, transaction?: Transaction): Promise<boolean>;
  /**
   * Deletes a bucket, so that its group starts from nothing with its next call. The ledger keeps what it counted.
   * @param transaction one that ends soon; else it has its own
   */
  deleteBucket(bucket: BucketKey, organisationId: string, transaction?: Transaction): Promise<BucketDeletion>;
  /**
   * Applies a policy's new limit and threshold to what was used before: one that is reached already raises its alert, and
   * what a higher limit leaves room in is not exhausted any more.
   * @param transaction the one in which the policy is changed; else it has its own
   */
  changeLimit(change: LimitChange, transaction?: Transaction): Promise<void>;
  /** Waits for what is queued, then lets go of everything. */
  close(): Promise<void>;
}

export interface Adjustment {
  readonly organisationId: string;
  readonly actorId: string;
  readonly reason: string;
  readonly at: Date;
}

/** `in_use`: calls in flight are reserved in it, and it stays. `missing`: the organisation has no such bucket. */
export type BucketDeletion = 'deleted' | 'in_use' | 'missing';

/** The counters cannot be reached: a call that a policy limits must not go out. */
export class StoreUnavailableError extends Error {
  constructor(options?: ErrorOptions) {
    super('the usage store cannot be reached', options);
    this.name = 'StoreUnavailableError';
  }
}
