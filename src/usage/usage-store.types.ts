import type { EntityManager } from 'typeorm';
import type { NanoDollars, UsageUnit } from '../common/money/units.js';
import type { AppliedRate } from './prices/price.types.js';
import type { Quantities } from './units.js';

/**
 * The usage of a call, or its bound: the most that it can use. Policies of type `tokens` count the sum of the token
 * units.
 */
export interface UsageFigures {
  readonly costNano: NanoDollars;
  readonly quantities: Quantities;
}

/**
 * `provider`: reported by the provider. `computed`: computed by the gateway, by the provider's rules or as the bound of
 * the received part. `presumed`: the outcome is unknown, so the bound is charged and corrected later. `capped`: the
 * report was implausible, so the bound is charged.
 */
export type FigureSource = 'provider' | 'computed' | 'presumed' | 'capped';

/**
 * How an attempt ended. `failed`: the provider refused it, or the tool failed. `cancelled`: the client disconnected.
 * `unknown`: the provider may have done the work.
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
  /** The policy's workspace; null for the whole organisation. */
  readonly workspaceId: string | null;
  readonly unit: UsageUnit;
  /** In the policy's unit. */
  readonly limit: bigint;
  /** Reaching it raises an alert. */
  readonly threshold: bigint | undefined;
  /** false for a monitoring policy, which counts calls but never refuses them. */
  readonly enforced: boolean;
  /** When the window ends, for the alert; undefined: never. */
  readonly resetsAt: Date | undefined;
}

/** The dimensions of a call in the ledger: ids and names, never content. */
export interface UsageDimensions {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  /** null when the client called with a token and no key. */
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
  /** UUIDv7 of the attempt: the idempotency key of every later change. */
  readonly id: string;
  /** When the call was admitted. Decides its windows and its partition of the ledger. */
  readonly at: Date;
  readonly leaseMs: number;
  readonly dimensions: UsageDimensions;
  /** The bound, at the highest price that can apply. */
  readonly bound: UsageFigures;
  readonly rate: AppliedRate;
  readonly charges: readonly Charge[];
}

/** A higher bound for a reservation that is open. */
export interface Extension {
  /** The reservation as it was admitted or last extended. */
  readonly reservation: Reservation;
  /** The new total. It never lowers a reservation; `settle` releases the rest. */
  readonly bound: UsageFigures;
  /** The new end of the lease, if it is later than the one before. */
  readonly expiresAt: Date;
}

/** Undoes an extension that was not needed. */
export interface Retraction {
  /** The id of the reservation. */
  readonly id: string;
  /** The total after the extension. */
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
  /** The reservation as it was admitted. A store that has lost it uses these values. */
  readonly reservation: Reservation;
  /** The usage to charge. The rest of the bound is released. */
  readonly figures: UsageFigures;
  readonly source: FigureSource;
  readonly outcome: AttemptOutcome;
  readonly rate: AppliedRate;
  /** Milliseconds from the start of the attempt to its first token; null when there was no stream or no token. */
  readonly firstTokenMs: number | null;
}

/** A call that no policy matches. It is only recorded in the ledger. */
export type UnlimitedUsage = Pick<Reservation, 'id' | 'at' | 'dimensions'> & Omit<Settlement, 'reservation'>;

/** A transaction of the caller, in the database of the counters. */
export type Transaction = Pick<EntityManager, 'query'>;

/** Counts usage. Every method is atomic and can be repeated with the same id (a reset only after it failed). */
export interface UsageStore {
  /**
   * Admits a call into all of its buckets or into none, within two seconds. A refusal writes nothing, with one
   * exception: the first refusal by a used bucket marks it as exhausted and raises the alert.
   * @throws StoreUnavailableError
   */
  reserve(reservation: Reservation): Promise<ReserveOutcome>;
  /**
   * Raises the bound of an open reservation to the new total, in all of its buckets or in none. The lease is extended
   * even when the bound does not fit. Returns within two seconds, like `reserve`.
   * @throws StoreUnavailableError
   */
  extend(extension: Extension): Promise<ExtendOutcome>;
  /** Extends the lease of an open reservation. The reserved amount does not change. */
  prolong(id: string, expiresAt: Date): Promise<void>;
  /**
   * Releases the amount of an extension. Nothing changes when the reservation was extended further, or is not open any
   * more.
   */
  retract(retraction: Retraction): Promise<void>;
  /**
   * Replaces the reservation by the true amount, in the windows that admitted it. Corrects an amount that was presumed.
   * Kept until it is written, like `release`: callers need not wait for it.
   */
  settle(settlement: Settlement): Promise<void>;
  /**
   * Releases the reservation of a call that was not sent. Leaves no row in the ledger. An unknown reservation, which
   * may still arrive, is refused when it does.
   */
  release(id: string, at: Date): Promise<void>;
  /** Records usage that no policy limits, after the answer. Usage that has to be dropped is reported to the observer. */
  record(usage: UnlimitedUsage): void;
  /** Writes recorded usage now. Never fails: usage that cannot be written is tried again later. */
  flush(): Promise<void>;
  /** Settles the reservations of dead gateways as presumed. Returns their number. */
  reap(now: Date): Promise<number>;
  /**
   * Resets a bucket's usage in its window to zero by an adjustment. Calls in flight stay reserved. Returns whether the
   * organisation has such a bucket.
   * @param transaction a short one; by default its own
   */
  reset(bucket: BucketKey, adjustment: Adjustment, transaction?: Transaction): Promise<boolean>;
  /**
   * Deletes a bucket, so that its group starts from zero with its next call. The ledger keeps its rows.
   * @param transaction a short one; by default its own
   */
  deleteBucket(bucket: BucketKey, organisationId: string, transaction?: Transaction): Promise<BucketDeletion>;
  /**
   * Applies a policy's new limit and threshold to its buckets. A threshold or limit that is already reached raises its
   * alert. A bucket with room under a higher limit is not exhausted any more.
   * @param transaction the one that changes the policy; by default its own
   */
  changeLimit(change: LimitChange, transaction?: Transaction): Promise<void>;
  /** Writes the queued work within a limited time, then drops the rest. */
  close(): Promise<void>;
}

export interface Adjustment {
  readonly organisationId: string;
  readonly actorId: string;
  readonly reason: string;
  readonly at: Date;
}

/**
 * `in_use`: the bucket has reservations of calls in flight, and stays. `missing`: the organisation has no such bucket.
 */
export type BucketDeletion = 'deleted' | 'in_use' | 'missing';

/** Thrown when the counters are unreachable. A call that a policy limits must not be sent then. */
export class StoreUnavailableError extends Error {
  constructor(options?: ErrorOptions) {
    super('the usage store cannot be reached', options);
    this.name = 'StoreUnavailableError';
  }
}
