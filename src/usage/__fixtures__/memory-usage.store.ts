import type { Clock } from '../../common/time/clock.js';
import { NO_RATE } from '../prices/price.types.js';
import { isCountable, NO_QUANTITIES, tokensOf } from '../units.js';
import {
  type Adjustment,
  type BucketDeletion,
  type BucketKey,
  type BucketState,
  type Charge,
  type ExtendOutcome,
  type Extension,
  type LimitChange,
  type Reservation,
  type ReserveOutcome,
  type Retraction,
  type Settlement,
  StoreUnavailableError,
  type UnlimitedUsage,
  type UsageStore,
} from '../usage-store.types.js';
import { amountOf, type AmountCharge, assertCountable, MAX_COUNT } from '../usage-work.js';

export interface MemoryBucket {
  readonly charge: Charge;
  readonly organisationId: string;
  used: bigint;
  reserved: bigint;
  epoch: number;
  isThresholdReached: boolean;
  isExhausted: boolean;
}

export interface MemoryEvent {
  readonly usage: UnlimitedUsage;
  readonly charges: readonly (AmountCharge & { readonly epoch: number })[];
}

interface MemoryReservation {
  readonly reservation: Reservation;
  /** With what each bucket holds for it. */
  readonly charges: readonly AmountCharge[];
  readonly expiresAt: number;
}

type SettledAs = Omit<Settlement, 'reservation'>;

const RELEASED_MS = 600_000;
const RELEASED: SettledAs = {
  figures: { costNano: 0n, quantities: NO_QUANTITIES },
  source: 'computed',
  outcome: 'failed',
  rate: NO_RATE,
  firstTokenMs: null,
};

/** Counts in the process, for tests: what it decides is what every other store decides. */
export class MemoryUsageStore implements UsageStore {
  readonly buckets = new Map<string, MemoryBucket>();
  readonly reservations = new Map<string, MemoryReservation>();
  readonly events = new Map<string, MemoryEvent>();
  readonly adjustments: { readonly key: BucketKey; readonly delta: bigint; readonly epoch: number }[] = [];
  /** Released before they arrived; until when that is remembered, in Unix milliseconds. */
  private readonly withdrawn = new Map<string, number>();
  /** By what makes them one. */
  readonly alerts = new Map<string, { readonly type: string; readonly used: bigint }>();

  constructor(
    private readonly clock: Clock,
    private readonly maxBuckets = 100_000,
  ) {}

  async reserve(reservation: Reservation): Promise<ReserveOutcome> {
    const { id, at, leaseMs, dimensions, bound, charges } = reservation;
    assertCountable(bound);
    if (this.withdrawn.has(id)) throw new StoreUnavailableError();
    if (this.reservations.has(id) || this.events.has(id)) return this.admitted(charges);
    const verdicts = charges.map((charge) => ({ charge, verdict: this.verdict(charge, amountOf(bound, charge)) }));
    const refused = verdicts.filter(({ charge, verdict }) => charge.enforced && verdict !== 'fits');
    for (const kind of ['exceeded', 'crowded', 'contended'] as const) {
      if (!refused.some(({ verdict }) => verdict === kind)) continue;
      for (const { charge, verdict } of refused)
        if (verdict === 'exceeded') this.exhaust(charge, amountOf(bound, charge), dimensions.organisationId);
      return { kind, failing: refused.map(({ charge }) => this.state(charge)) };
    }
    const counted = verdicts
      .filter(({ verdict }) => verdict === 'fits')
      .map(({ charge }) => ({ charge, amount: amountOf(bound, charge) }))
      .filter(({ charge, amount }) => !this.isLeftOut(charge, amount));
    for (const { charge, amount } of counted) this.makeBucket(charge, dimensions.organisationId).reserved += amount;
    this.reservations.set(id, { reservation, charges: counted, expiresAt: at.getTime() + leaseMs });
    return this.admitted(charges);
  }

  async extend({ reservation, bound, expiresAt }: Extension): Promise<ExtendOutcome> {
    assertCountable(bound);
    const open = this.reservations.get(reservation.id);
    if (open === undefined) return { kind: 'gone', failing: [] };
    const longer = { ...open, expiresAt: Math.max(open.expiresAt, expiresAt.getTime()) };
    this.reservations.set(reservation.id, longer);
    const more = open.charges.map(({ charge, amount }) => {
      const missing = amountOf(bound, charge) - amount;
      return { charge, amount: missing > 0n ? missing : 0n };
    });
    const verdicts = more.map(({ charge, amount }, index) => ({
      charge,
      verdict: this.verdict(charge, amount, open.charges[index]?.amount),
    }));
    const refused = verdicts.filter(({ charge, verdict }) => charge.enforced && verdict !== 'fits');
    for (const kind of ['exceeded', 'contended'] as const) {
      if (!refused.some(({ verdict }) => verdict === kind)) continue;
      for (const { charge, verdict } of refused)
        if (verdict === 'exceeded')
          this.exhaust(charge, amountOf(bound, charge), reservation.dimensions.organisationId);
      return { kind, failing: refused.map(({ charge }) => this.state(charge)) };
    }
    for (const { charge, amount } of more) this.at(charge).reserved += amount;
    const charges = open.charges.map(({ charge, amount }, index) => ({
      charge,
      amount: amount + (more[index]?.amount ?? 0n),
    }));
    this.reservations.set(reservation.id, { ...longer, charges, reservation: { ...open.reservation, bound } });
    return this.admitted(reservation.charges);
  }

  async prolong(id: string, expiresAt: Date): Promise<void> {
    const open = this.reservations.get(id);
    if (open !== undefined)
      this.reservations.set(id, { ...open, expiresAt: Math.max(open.expiresAt, expiresAt.getTime()) });
  }

  async retract({ id, bound, to }: Retraction): Promise<void> {
    const open = this.reservations.get(id);
    if (open === undefined) return;
    const { costNano, quantities } = open.reservation.bound;
    if (costNano !== bound.costNano || tokensOf(quantities) !== tokensOf(bound.quantities)) return;
    const charges = open.charges.map(({ charge, amount }) => {
      const kept = amount === amountOf(bound, charge) ? amountOf(to, charge) : amount;
      this.at(charge).reserved += kept - amount;
      return { charge, amount: kept };
    });
    this.reservations.set(id, { ...open, charges, reservation: { ...open.reservation, bound: to } });
  }

  async settle({ reservation, ...settled }: Settlement): Promise<void> {
    assertCountable(settled.figures);
    const { id, at, dimensions, charges } = reservation;
    if (this.move(id, settled, false) || this.correct(id, settled, false) || this.events.has(id)) return;
    this.note({ id, at, dimensions, ...settled }, charges);
  }

  async release(id: string): Promise<void> {
    if (this.move(id, RELEASED, true) || this.correct(id, RELEASED, true) || this.events.has(id)) return;
    this.withdrawn.set(id, this.clock.now().getTime() + RELEASED_MS);
  }

  record(usage: UnlimitedUsage): void {
    if (isCountable(usage.figures) && !this.events.has(usage.id)) this.note(usage, []);
  }

  async flush(): Promise<void> {
    // Written at once.
  }

  async reap(now: Date): Promise<number> {
    const left = [...this.reservations.values()].filter(({ expiresAt }) => expiresAt < now.getTime());
    for (const { reservation } of left) {
      const { id, bound: figures, rate } = reservation;
      this.move(id, { figures, source: 'presumed', outcome: 'unknown', rate, firstTokenMs: null }, false);
    }
    for (const [id, expiresAt] of this.withdrawn) if (expiresAt < now.getTime()) this.withdrawn.delete(id);
    return left.length;
  }

  async reset(key: BucketKey, _adjustment: Adjustment): Promise<boolean> {
    const bucket = this.buckets.get(nameOf(key));
    if (bucket === undefined) return false;
    this.adjustments.push({ key, delta: -bucket.used, epoch: bucket.epoch });
    this.alerts.set(`${nameOf(key)} ${bucket.epoch} reset`, { type: 'usage_limit.reset', used: bucket.used });
    bucket.used = 0n;
    bucket.epoch += 1;
    bucket.isThresholdReached = bucket.isExhausted = false;
    return true;
  }

  async deleteBucket(key: BucketKey, organisationId: string): Promise<BucketDeletion> {
    const bucket = this.buckets.get(nameOf(key));
    if (bucket?.organisationId !== organisationId) return 'missing';
    const open = [...this.reservations.values()].flatMap(({ charges }) => charges);
    if (open.some(({ charge }) => nameOf(charge) === nameOf(key))) return 'in_use';
    // The events of a bucket that is made later would otherwise add up with those of this one.
    this.adjustments.push({ key, delta: -bucket.used, epoch: bucket.epoch });
    this.buckets.delete(nameOf(key));
    return 'deleted';
  }

  async changeLimit({ organisationId, policyId, windowId, limit, threshold }: LimitChange): Promise<void> {
    for (const { charge, organisationId: owner } of this.buckets.values()) {
      if (owner !== organisationId || charge.policyId !== policyId || charge.windowId !== windowId) continue;
      this.alert(this.open({ ...charge, limit, threshold }, owner));
    }
  }

  async close(): Promise<void> {}

  private admitted(charges: readonly Charge[]): ReserveOutcome {
    return { kind: 'admitted', buckets: charges.map((charge) => this.state(charge)) };
  }

  /** @param held by the call itself, among what is reserved */
  private verdict(charge: Charge, amount: bigint, held = 0n): 'fits' | 'exceeded' | 'crowded' | 'contended' {
    const { used, reserved, limit } = this.state(charge);
    const isLimited = charge.enforced && amount > 0n;
    if (isLimited && used + held + amount > limit) return 'exceeded';
    if (this.isLeftOut(charge, amount)) return 'fits';
    if (!this.buckets.has(nameOf(charge)) && this.countLike(charge) >= this.maxBuckets) return 'crowded';
    return isLimited && used + reserved + amount > limit ? 'contended' : 'fits';
  }

  /** What costs nothing makes no bucket that counts costs. */
  private isLeftOut(charge: Charge, amount: bigint): boolean {
    return charge.unit === 'cost' && amount === 0n && !this.buckets.has(nameOf(charge));
  }

  private countLike({ policyId, windowId }: Charge): number {
    const all = [...this.buckets.values()];
    return all.filter(({ charge }) => charge.policyId === policyId && charge.windowId === windowId).length;
  }

  private state({ policyId, bucketHash, windowId, limit }: Charge): BucketState {
    const { used = 0n, reserved = 0n } = this.buckets.get(nameOf({ policyId, bucketHash, windowId })) ?? {};
    return { policyId, bucketHash, windowId, limit, used, reserved };
  }

  private makeBucket(charge: Charge, organisationId: string): MemoryBucket {
    const isNew = !this.buckets.has(nameOf(charge));
    const bucket = this.open(charge, organisationId);
    const groups = this.countLike(charge);
    const name = `${charge.policyId} ${charge.windowId} groups`;
    if (isNew && groups >= this.maxBuckets * 0.9 && !this.alerts.has(name))
      this.alerts.set(name, { type: 'usage_limit.groups_nearly_full', used: 0n });
    return bucket;
  }

  /** With the limit and threshold of now: a mark stays unless its line was raised. */
  private open(charge: Charge, organisationId: string): MemoryBucket {
    const known = this.buckets.get(nameOf(charge));
    const { used = 0n, reserved = 0n, epoch = 0 } = known ?? {};
    const isThresholdReached = known?.isThresholdReached === true && isNotRaised(charge, known.charge);
    const isExhausted = known?.isExhausted === true && charge.limit <= known.charge.limit;
    const bucket = { charge, organisationId, used, reserved, epoch, isThresholdReached, isExhausted };
    this.buckets.set(nameOf(charge), bucket);
    return bucket;
  }

  /** From reserved to used; false when there is no such reservation. */
  private move(id: string, settled: SettledAs, isReleased: boolean): boolean {
    const open = this.reservations.get(id);
    if (open === undefined) return false;
    const { reservation, charges } = open;
    this.reservations.delete(id);
    for (const { charge, amount } of charges) this.at(charge).reserved -= amount;
    if (!isReleased && !this.events.has(id)) {
      const { at, dimensions } = reservation;
      const counted = charges.map(({ charge }) => charge);
      this.note({ id, at, dimensions, ...settled }, counted);
    }
    for (const { charge, amount } of charges) if (amount > 0n) this.dropEmpty(charge);
    return true;
  }

  /** A bucket of which nothing was ever used. */
  private dropEmpty(charge: Charge): void {
    const { used, reserved, epoch, isThresholdReached, isExhausted } = this.at(charge);
    const open = [...this.reservations.values()].flatMap(({ charges }) => charges);
    const isHeld = open.some((other) => nameOf(other.charge) === nameOf(charge));
    const isUsed = used > 0n || reserved > 0n || epoch > 0 || isThresholdReached || isExhausted;
    if (!isUsed && !isHeld) this.buckets.delete(nameOf(charge));
  }

  /** Puts the truth in the place of what was presumed. */
  private correct(id: string, settled: SettledAs, isReleased: boolean): boolean {
    const event = this.events.get(id);
    if (event?.usage.source !== 'presumed' || settled.source === 'presumed') return false;
    const charges = event.charges.map(({ charge, epoch, amount: presumed }) => {
      const bucket = this.buckets.get(nameOf(charge));
      if (bucket === undefined) return { charge, amount: presumed, epoch };
      const amount = amountOf(settled.figures, charge);
      const difference = amount - presumed;
      // What lies before a reset is not taken from what came after it.
      if (epoch === bucket.epoch) this.spend(bucket, difference);
      else if (difference !== 0n) this.adjustments.push({ key: charge, delta: -difference, epoch: bucket.epoch });
      return { charge, amount, epoch };
    });
    if (isReleased) this.events.delete(id);
    else this.events.set(id, { usage: { ...event.usage, ...settled }, charges });
    return true;
  }

  private note(usage: UnlimitedUsage, charges: readonly Charge[]): void {
    const counted = charges.filter((charge) => !this.isLeftOut(charge, amountOf(usage.figures, charge)));
    const charged = counted.map((charge) => {
      const bucket = this.buckets.get(nameOf(charge)) ?? this.makeBucket(charge, usage.dimensions.organisationId);
      const amount = amountOf(usage.figures, charge);
      this.spend(bucket, amount);
      return { charge, amount, epoch: bucket.epoch };
    });
    this.events.set(usage.id, { usage, charges: charged });
  }

  private spend(bucket: MemoryBucket, amount: bigint): void {
    const used = bucket.used + amount;
    bucket.used = used > MAX_COUNT ? MAX_COUNT : used < 0n ? 0n : used;
    // What the counter has no room for is an adjustment: the ledger says what was used.
    const delta = bucket.used - used;
    if (delta !== 0n) this.adjustments.push({ key: bucket.charge, delta, epoch: bucket.epoch });
    if (amount < 0n && bucket.used < bucket.charge.limit) bucket.isExhausted = false;
    this.alert(bucket);
  }

  /** A call did not fit into what is left. */
  private exhaust(charge: Charge, amount: bigint, organisationId: string): void {
    const bucket = this.buckets.get(nameOf(charge));
    if (bucket === undefined || bucket.used === 0n) return;
    if (amount > charge.limit && bucket.used < charge.limit) return;
    this.markExhausted(this.open(charge, organisationId));
  }

  /** Of the lines that are reached, and were not before. */
  private alert(bucket: MemoryBucket): void {
    const { used, charge } = bucket;
    if (used === 0n) return;
    if (charge.threshold !== undefined && used >= charge.threshold && !bucket.isThresholdReached) {
      bucket.isThresholdReached = true;
      this.tell(bucket, 'usage_limit.threshold_reached', charge.threshold);
    }
    if (used >= charge.limit) this.markExhausted(bucket);
  }

  private markExhausted(bucket: MemoryBucket): void {
    if (bucket.isExhausted) return;
    bucket.isExhausted = true;
    this.tell(bucket, 'usage_limit.exhausted', bucket.charge.limit);
  }

  private tell({ charge, epoch, used }: MemoryBucket, type: string, line: bigint): void {
    const name = `${nameOf(charge)} ${epoch} ${type} ${line}`;
    if (!this.alerts.has(name)) this.alerts.set(name, { type, used });
  }

  private at(key: BucketKey): MemoryBucket {
    const bucket = this.buckets.get(nameOf(key));
    if (bucket === undefined) throw new Error('a reservation without its bucket');
    return bucket;
  }
}

function isNotRaised({ threshold }: Charge, before: Charge): boolean {
  return threshold !== undefined && before.threshold !== undefined && threshold <= before.threshold;
}

function nameOf({ policyId, bucketHash, windowId }: BucketKey): string {
  return `${policyId} ${bucketHash} ${windowId}`;
}
