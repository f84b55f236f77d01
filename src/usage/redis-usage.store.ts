import type { RefusalMemory, RefusedUsage } from './refusal-memory.js';
import type { UsageObserver } from './usage-observer.js';
import type {
  Adjustment,
  BucketKey,
  BucketState,
  Charge,
  ExtendOutcome,
  Extension,
  LimitChange,
  Reservation,
  ReserveOutcome,
  Settlement,
  Transaction,
  UnlimitedUsage,
  UsageStore,
} from './usage-store.types.js';
import { amountOf, assertCountable } from './usage-work.js';

/**
 * Lets Redis say no for a durable store, which alone says yes. A call needs its row before it is sent, so admission cannot
 * be faster than that store; but agents ask a used-up budget again and again, and each time the answer is the same. All
 * that Redis can do wrong, whether it is empty, outdated, silent or gone, is to refuse for a few seconds too long.
 */
export class RedisUsageStore implements UsageStore {
  constructor(
    private readonly durable: UsageStore,
    private readonly memory: RefusalMemory,
    private readonly observer: Pick<UsageObserver, 'decided' | 'refusedFromMemory'>,
  ) {}

  async reserve(reservation: Reservation): Promise<ReserveOutcome> {
    assertCountable(reservation.bound);
    const { organisationId } = reservation.dimensions;
    const enforced = reservation.charges.filter((charge) => charge.enforced);
    if (enforced.length === 0) return this.durable.reserve(reservation);
    const remembered = await this.memory.recall(organisationId, enforced);
    const failing = enforced.flatMap((charge, index) => stateIfOver(reservation, charge, remembered[index]));
    if (failing.length > 0) {
      this.observer.decided('exceeded');
      this.observer.refusedFromMemory();
      return { kind: 'exceeded', failing };
    }
    const outcome = await this.durable.reserve(reservation);
    // What is only contended, or crowded, passes in moments.
    if (outcome.kind === 'exceeded') this.memory.remember(organisationId, overIn(reservation, outcome.failing));
    return outcome;
  }

  extend(extension: Extension): Promise<ExtendOutcome> {
    return this.durable.extend(extension);
  }

  settle(settlement: Settlement): Promise<void> {
    return this.durable.settle(settlement);
  }

  release(id: string, at: Date): Promise<void> {
    return this.durable.release(id, at);
  }

  record(usage: UnlimitedUsage): void {
    this.durable.record(usage);
  }

  flush(): Promise<void> {
    return this.durable.flush();
  }

  reap(now: Date): Promise<number> {
    return this.durable.reap(now);
  }

  async reset(bucket: BucketKey, adjustment: Adjustment, transaction?: Transaction): Promise<boolean> {
    const isFound = await this.durable.reset(bucket, adjustment, transaction);
    // Before the caller's transaction ends: the mark that replaces the memory lives longer than that.
    if (isFound) await this.memory.forget(adjustment.organisationId, bucket);
    return isFound;
  }

  changeLimit(change: LimitChange, transaction?: Transaction): Promise<void> {
    return this.durable.changeLimit(change, transaction);
  }

  /** The connection to Redis is others' too, and stays open. */
  close(): Promise<void> {
    return this.durable.close();
  }
}

/** The bucket as remembered, in a list, if the call would not fit even with no other call in flight. */
function stateIfOver(
  { bound }: Reservation,
  charge: Charge,
  remembered: RefusedUsage | undefined,
): readonly BucketState[] {
  const { policyId, bucketHash, windowId, limit } = charge;
  const amount = amountOf(bound, charge);
  if (remembered === undefined || amount === 0n || remembered.used + amount <= limit) return [];
  return [{ policyId, bucketHash, windowId, limit, ...remembered }];
}

function overIn(reservation: Reservation, failing: readonly BucketState[]): readonly BucketState[] {
  return failing.flatMap((state) => {
    const charge = reservation.charges.find((candidate) => isSameBucket(candidate, state));
    return charge === undefined ? [] : stateIfOver(reservation, charge, state);
  });
}

function isSameBucket(one: BucketKey, other: BucketKey): boolean {
  return one.policyId === other.policyId && one.bucketHash === other.bucketHash && one.windowId === other.windowId;
}
