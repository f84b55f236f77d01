import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { uuidv7 } from '../common/uuid.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { Clock } from '../common/time/clock.js';
import { doneWithin } from '../common/time/done-within.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import { chargeOf } from '../policies/policy-charges.js';
import type { PolicyAttributes } from '../policies/policy-keys.js';
import type { AttemptObserver, UpstreamAttempt } from '../upstream/upstream.types.js';
import {
  type AttemptOutcome,
  type Charge,
  type FigureSource,
  type Reservation,
  type ReserveOutcome,
  StoreUnavailableError,
  type UsageDimensions,
  type UsageFigures,
  type UsageStore,
} from '../usage/usage-store.types.js';
import { outcomeOfAttempt } from './attempt-outcome.js';
import type { ReportedUsage, UsageEstimate } from './billable-use.js';
import { type CallCost, costOfReport, NOTHING } from './call-cost.js';
import { refusalOf, remainingOf } from './limit-refusal.js';
import { type MonitoredRefusal, monitoredRefusal } from './monitored-limits.js';
import type { ProviderContext } from './provider-context.decorator.js';

/** A failed attempt is settled before the next is reserved, unless the database lets it wait for longer. */
const SETTLING_MS = 1_000;
const NO_POLICIES: readonly CompiledPolicy[] = [];
const NO_CHARGES: readonly Charge[] = [];

/** What all attempts of a call have in common. */
export interface CallPlan {
  readonly facts: PolicyAttributes;
  readonly dimensions: UsageDimensions;
  /**
   * Those that match at this moment.
   * @throws GatewayError `price_unknown`, `store_unavailable`, `usage_limit_unreadable`
   */
  readonly policiesNow: () => MaybePromise<readonly CompiledPolicy[]>;
  readonly estimate: UsageEstimate;
  readonly cost: CallCost;
  readonly leaseMs: number;
}

/**
 * The usage of one call. Each attempt at the provider is reserved, then settled or released, exactly once; without a
 * policy it is only noted, and nobody waits for that.
 */
export class MeteredCall implements AttemptObserver {
  /** The attempt that is under way, or whose answer is still to be read. */
  private open: Reservation | undefined;
  private settling: Promise<unknown> | undefined;
  /** With those after a renewed credential. */
  private attempts = 0;

  constructor(
    private readonly plan: CallPlan,
    private readonly context: ProviderContext,
    private readonly store: UsageStore,
    private readonly clock: Clock,
    private readonly ended: () => void,
  ) {}

  /**
   * Policies may change while an attempt is under way or waits for its turn, so each is held against those of its moment.
   * Throws and rejects with what the caller is told.
   */
  before(): MaybePromise<void> {
    if (this.settling === undefined) return this.admit();
    return doneWithin(SETTLING_MS, this.settling).then(() => this.admit());
  }

  after(attempt: UpstreamAttempt): void {
    const attempted = this.open ?? this.nextAttempt(NO_POLICIES, attempt.durationMs);
    this.open = undefined;
    switch (outcomeOfAttempt(attempt)) {
      case 'nothing_sent':
        return this.release(attempted);
      case 'free':
        return this.settle(attempted, NOTHING, 'computed', 'failed');
      case 'unknown':
        return this.presume(attempted);
      case 'answered':
        this.open = attempted;
    }
  }

  /** The answer was read, and says what it costs. */
  succeed(reported: ReportedUsage): void {
    const answered = this.open;
    if (answered === undefined) return;
    this.open = undefined;
    const { estimate, cost } = this.plan;
    const { figures, source } = costOfReport(reported, estimate, cost);
    this.settle(answered, figures, source, 'answered');
  }

  /** However the call ended: what is not accounted for by now may have been done by the provider. */
  end(): void {
    const left = this.open;
    this.open = undefined;
    if (left !== undefined) this.presume(left);
    this.ended();
  }

  private admit(): MaybePromise<void> {
    return chain(this.plan.policiesNow(), (policies) => (policies.length > 0 ? this.reserve(policies) : undefined));
  }

  private async reserve(policies: readonly CompiledPolicy[]): Promise<void> {
    const { facts } = this.context.request;
    const reservation = this.nextAttempt(policies, 0);
    const outcome = await this.store.reserve(reservation).catch((cause: unknown) => {
      if (!(cause instanceof StoreUnavailableError)) throw cause;
      facts.limit_decision ??= 'store_down';
      throw new GatewayError('store_unavailable', { cause, reason: 'usage' });
    });
    facts.limit_decision ??= outcome.kind;
    if (outcome.kind !== 'admitted') throw refusalOf(outcome, reservation.charges, policies);
    this.open = reservation;
    this.tellRemaining(outcome, reservation.charges);
    this.noteMonitored(monitoredRefusal(reservation, outcome.buckets));
  }

  /** The attempt by the clock of now, less how long it has been under way. */
  private nextAttempt(policies: readonly CompiledPolicy[], sinceMs: number): Reservation {
    this.attempts += 1;
    const { facts, dimensions, cost, leaseMs } = this.plan;
    const now = this.clock.now();
    const at = sinceMs > 0 ? new Date(now.getTime() - sinceMs) : now;
    return {
      id: uuidv7(at),
      at,
      leaseMs,
      dimensions: this.attempts === 1 ? dimensions : { ...dimensions, attempt: this.attempts },
      bound: cost.bound,
      rate: cost.rate,
      charges: policies.length === 0 ? NO_CHARGES : policies.map((policy) => chargeOf(policy, facts, at)),
    };
  }

  private presume(reservation: Reservation): void {
    this.settle(reservation, this.plan.cost.bound, 'presumed', 'unknown');
  }

  private settle(reservation: Reservation, figures: UsageFigures, source: FigureSource, outcome: AttemptOutcome): void {
    const { facts } = this.context.request;
    facts.cost_nano = (facts.cost_nano ?? 0) + Number(figures.costNano);
    const { id, at, dimensions, rate } = reservation;
    const settled = { figures, source, outcome, rate, firstTokenMs: null };
    if (reservation.charges.length > 0) this.keep(this.store.settle({ reservation, ...settled }));
    else this.store.record({ id, at, dimensions, ...settled });
  }

  private release({ id, at, charges }: Reservation): void {
    if (charges.length > 0) this.keep(this.store.release(id, at));
  }

  /** The store keeps it until it is written, and counts what it has to drop; only another attempt waits. */
  private keep(written: Promise<void>): void {
    this.settling = written.catch(() => undefined);
  }

  private tellRemaining({ buckets }: ReserveOutcome & { readonly kind: 'admitted' }, charges: readonly Charge[]): void {
    const remaining = remainingOf(buckets, charges);
    if (remaining !== undefined) this.context.answer.setHeader('x-gateway-limit-remaining', remaining);
  }

  private noteMonitored(refusal: MonitoredRefusal | undefined): void {
    const { facts } = this.context.request;
    facts.limit_monitored ??= refusal?.result;
    facts.limit_monitored_policy ??= refusal?.policyId;
  }
}
