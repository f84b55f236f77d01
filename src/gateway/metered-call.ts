import type { MaybePromise } from '../common/maybe-promise.js';
import type { RunningCalls } from '../common/running-calls.js';
import { formatDecimal } from '../common/money/decimal.js';
import { uuidv7 } from '../common/uuid.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { Clock } from '../common/time/clock.js';
import { settledWithin } from '../common/time/timeout.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicyAttributes } from '../policies/policy-keys.js';
import type { AttemptObserver, BodyFilter, UpstreamAttempt } from '../upstream/upstream.types.js';
import {
  type AttemptOutcome,
  type Charge,
  type Reservation,
  type Settlement,
  StoreUnavailableError,
  type UsageDimensions,
  type UsageFigures,
  type UsageStore,
} from '../usage/usage-store.types.js';
import { amountOf } from '../usage/usage-work.js';
import { isWithinBound, largestQuantities, type Quantities, toQuantitiesJson } from '../usage/units.js';
import type { ModelAnswer } from '../telemetry/gen-ai.js';
import type { MeteredUse, ReportedUsage, StreamMeter, UsageEstimate } from './billable-use.js';
import {
  type AboveBound,
  boundOf,
  type CallCost,
  costOfEstimate,
  costOfReport,
  NOTHING,
  outputThatFits,
  rateOfNothing,
  outcomeOfAttempt,
} from './call-cost.js';
import { leftOf, refusalOf, type RefusedReservation } from './limit-refusal.js';
import { noteAdmission } from './monitored-limits.js';
import { modelAnswerOf, sumOfUnits } from './model-answer.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { chargeOf } from '../policies/compiled-policies.js';

/** The longest wait for a failed attempt to be settled before the next one is reserved. */
const SETTLING_MS = 1_000;
/** A stream may last for hours, so it renews a short lease at half time. The lease in multiples of the margin. */
const STREAM_LEASE_MARGINS = 2;
/** Decimals of a US dollar in the ledger. */
const NANO_DECIMALS = 9;
const NO_BYTES = Buffer.alloc(0);
const NO_POLICIES: readonly CompiledPolicy[] = [];
const NO_CHARGES: readonly Charge[] = [];

export interface UsageCounts {
  countCharged(provider: string, quantities: Quantities): void;
  countAboveBound(provider: string, result: AboveBound): void;
}

/** The facts that all attempts of a call share. */
export interface CallPlan {
  readonly facts: PolicyAttributes;
  readonly dimensions: UsageDimensions;
  /**
   * The policies that match now.
   * @throws GatewayError `price_unknown`, `store_unavailable`, `usage_limit_unreadable`
   */
  readonly policiesNow: () => MaybePromise<readonly CompiledPolicy[]>;
  readonly estimate: UsageEstimate;
  readonly cost: CallCost;
  /** The time limit of the whole call, or of the silence in a stream. */
  readonly timeoutMs: number;
  /** How much longer a lease is than its call can be. */
  readonly leaseMarginMs: number;
  readonly counts: UsageCounts;
  readonly noteRoom: MeteredUse['noteRoom'];
}

/**
 * The usage of one call: the only place that reserves and settles. Each attempt at the provider is reserved, then
 * settled or released, exactly once. Without a policy, it is only recorded, and no request waits for that. A streamed
 * answer is metered as it passes. Its reservation grows with it, and the received part is charged however the stream
 * ends.
 */
export class MeteredCall implements AttemptObserver {
  /** The attempt that is in flight, or whose answer has not been read. */
  private open: Reservation | undefined;
  private settling: Promise<unknown> | undefined;
  /** Includes attempts after a renewed credential. */
  private attempts = 0;
  private newMeter: (() => StreamMeter) | undefined;
  meter: StreamMeter | undefined;
  /** Whether any of the answer has arrived. */
  private hasBegun = false;
  /** On the clock of `performance.now()`. */
  private startedAt = 0;
  private firstTokenMs: number | null = null;
  /** Whether the provider reported the cost. */
  private hasReportedCost = false;
  private renewal: NodeJS.Timeout | undefined;
  private isExtending = false;
  /** On the clock of `performance.now()`. */
  private deadlineMs: number | undefined;
  private refusal: unknown;
  private policies = NO_POLICIES;

  constructor(
    private readonly plan: CallPlan,
    private readonly context: ProviderContext,
    private readonly store: UsageStore,
    private readonly clock: Clock,
    private readonly running: RunningCalls,
  ) {}

  /**
   * Admits an attempt. Policies may change between attempts, so each is checked against the current ones. Throws or
   * rejects with the error for the caller.
   */
  before(): MaybePromise<void> {
    this.meter = this.newMeter?.();
    this.hasBegun = false;
    this.firstTokenMs = null;
    if (this.settling === undefined) return this.admit();
    return settledWithin(SETTLING_MS, this.settling).then(() => this.admit());
  }

  started(): void {
    this.startedAt = performance.now();
  }

  /**
   * Returns the filter for a streamed answer. Call it before the first attempt. The filter ends the stream when a usage
   * limit leaves no room for more.
   */
  meterStream(newMeter: () => StreamMeter): BodyFilter {
    this.newMeter = newMeter;
    return { push: (chunk) => this.meterChunk(chunk), end: () => this.meter?.end() ?? NO_BYTES };
  }

  /** Meters a whole answer and returns it. Its reservation need not grow before it is settled. */
  meterWhole(body: Buffer): Buffer {
    const { meter } = this;
    if (meter === undefined) return body;
    const passed = meter.push(body);
    this.noteOutput(meter);
    const rest = meter.end();
    // Most answers have no rest, and copying a large body is expensive.
    return rest.length === 0 ? passed : Buffer.concat([passed, rest]);
  }

  after(attempt: UpstreamAttempt): void {
    const attempted = this.open ?? this.nextAttempt(NO_POLICIES, attempt.durationMs);
    this.open = undefined;
    switch (outcomeOfAttempt(attempt)) {
      case 'nothing_sent':
        return this.release(attempted);
      case 'free':
        return this.settleFree(attempted);
      case 'unknown':
        return this.settleUnfinished(attempted, attempt.failure === 'caller_gone');
      case 'answered':
        this.open = attempted;
    }
  }

  /** Call it when the answer was read, with the usage in it. */
  succeed(reported: ReportedUsage): void {
    const answered = this.open;
    if (answered === undefined) return;
    this.open = undefined;
    this.settleReport(answered, reported, 'answered');
  }

  /** Call it when the answer is an error despite its status: it is counted at no cost. */
  refuse(): void {
    const answered = this.open;
    this.open = undefined;
    if (answered !== undefined) this.settleFree(answered);
  }

  /** Call it when the answer is complete: it is charged by its meter. */
  succeedStream(): void {
    const { meter } = this;
    if (meter === undefined) return;
    this.noteAnswer(meter);
    if (isRefusal(meter)) this.refuse();
    else this.succeed(meter.usage);
  }

  /** Sets the fields of the log line. */
  private noteAnswer({ answer, hasError, usage: { counts } }: StreamMeter): void {
    const { facts } = this.context.request;
    facts.outcome = hasError === true ? 'provider_error' : undefined;
    facts.finish_reason = answer?.finishReason;
    const seconds = (performance.now() - this.startedAt - (this.firstTokenMs ?? 0)) / 1_000;
    if (counts.output !== undefined && seconds > 0)
      facts.tokens_per_second = Math.round((counts.output / seconds) * 10) / 10;
  }

  /** The facts of an answer that was metered from its bytes. */
  get answer(): ModelAnswer | undefined {
    return this.meter === undefined ? undefined : modelAnswerOf(this.meter, this.firstTokenMs ?? undefined);
  }

  /** The cost of the request so far, in US dollars as a decimal; undefined when its model has no price. */
  get costSoFar(): string | undefined {
    if (!this.plan.cost.isPriced && !this.hasReportedCost) return undefined;
    return formatDecimal(BigInt(this.context.request.facts.cost_nano ?? 0), NANO_DECIMALS);
  }

  /** Call it once, however the call ended. An attempt without an outcome is settled as unfinished. */
  end(): void {
    const left = this.open;
    this.open = undefined;
    clearInterval(this.renewal);
    if (left !== undefined) this.settleUnfinished(left, this.refusal !== undefined);
    this.running.end();
  }

  private meterChunk(chunk: Buffer): Buffer {
    if (this.refusal !== undefined) throw this.refusal;
    const { meter, open } = this;
    if (meter === undefined) return chunk;
    const passed = meter.push(chunk);
    this.noteOutput(meter);
    if (open !== undefined && !this.isExtending) this.extendBeyond(open, meter);
    return passed;
  }

  private noteOutput(meter: StreamMeter): void {
    this.hasBegun = true;
    if (meter.hasOutput) this.firstTokenMs ??= Math.floor(performance.now() - this.startedAt);
  }

  /** Extends the reservation when more has arrived than is reserved. */
  private extendBeyond(open: Reservation, meter: StreamMeter): void {
    // For an implausible report, `costOfReport` returns the bound.
    const received = costOfReport(meter.usage, this.plan.estimate, this.plan.cost, open.bound).figures;
    if (isWithinBound(received.quantities, open.bound.quantities)) return;
    this.extend(open, boundOf(largestQuantities(received.quantities, open.bound.quantities), this.plan.cost));
  }

  /** Renews the lease by a timer, since a stream may be silent for longer than its lease. */
  private renewLease({ leaseMs }: Reservation): void {
    clearInterval(this.renewal);
    this.renewal = setInterval(() => {
      if (this.open !== undefined && !this.isExtending) this.extend(this.open, this.open.bound);
    }, leaseMs / STREAM_LEASE_MARGINS).unref();
  }

  private extend(open: Reservation, bound: UsageFigures): void {
    this.isExtending = true;
    void this.extendInStore(open, bound).finally(() => (this.isExtending = false));
  }

  /** Never rejects. When the store is unreachable, the stream continues: it was admitted, and is settled at its end. */
  private async extendInStore(open: Reservation, bound: UsageFigures): Promise<void> {
    const expiresAt = new Date(this.clock.now().getTime() + open.leaseMs);
    try {
      const outcome = await this.store.extend({ reservation: open, bound, expiresAt });
      if (this.open?.id !== open.id) return;
      if (outcome.kind === 'admitted') this.open = { ...open, bound };
      else if (outcome.kind !== 'gone') this.refusal = refusalOf(outcome, open.charges, this.policies);
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError)) this.refusal = cause;
    }
  }

  private admit(): MaybePromise<void> {
    const policies = this.plan.policiesNow();
    if (policies instanceof Promise) return policies.then((found) => this.reserve(found));
    return policies.length > 0 ? this.reserve(policies) : undefined;
  }

  private async reserve(policies: readonly CompiledPolicy[]): Promise<void> {
    if (policies.length === 0) return;
    this.policies = policies;
    const { facts } = this.context.request;
    const reservation = this.nextAttempt(policies, 0);
    const outcome = await this.store.reserve(reservation).catch((cause: unknown) => {
      if (!(cause instanceof StoreUnavailableError)) throw cause;
      facts.limit_decision ??= 'store_down';
      throw new GatewayError('store_unavailable', { cause, reason: 'usage' });
    });
    facts.limit_decision ??= outcome.kind;
    if (outcome.kind !== 'admitted') {
      this.noteRoom(outcome, reservation.charges);
      throw refusalOf(outcome, reservation.charges, policies);
    }
    this.open = reservation;
    if (this.newMeter !== undefined) this.renewLease(reservation);
    noteAdmission(this.context, reservation, outcome);
  }

  private noteRoom({ failing }: RefusedReservation, charges: readonly Charge[]): void {
    const { prices } = this.plan.cost;
    const fits = (bound: UsageFigures): boolean =>
      failing.every((state) => {
        const charge = charges.find(({ policyId }) => policyId === state.policyId);
        return charge !== undefined && amountOf(bound, charge) <= leftOf(state);
      });
    this.plan.noteRoom?.({
      fits: (estimate) => fits(costOfEstimate(estimate, prices).bound),
      outputFor: (estimate) => outputThatFits(estimate, prices, fits),
    });
  }

  /** The next attempt. It is dated by the current time minus its duration so far. */
  private nextAttempt(policies: readonly CompiledPolicy[], sinceMs: number): Reservation {
    this.attempts += 1;
    const { facts, dimensions, cost } = this.plan;
    const now = this.clock.now();
    const at = sinceMs > 0 ? new Date(now.getTime() - sinceMs) : now;
    return {
      id: uuidv7(at),
      at,
      leaseMs: policies.length === 0 ? 0 : this.leaseMs(),
      dimensions: this.attempts === 1 ? dimensions : { ...dimensions, attempt: this.attempts },
      bound: cost.bound,
      rate: cost.rate,
      charges: policies.length === 0 ? NO_CHARGES : policies.map((policy) => chargeOf(policy, facts, at)),
    };
  }

  /** Milliseconds until after the deadline of the call. By then, its gateway has settled it or died. */
  private leaseMs(): number {
    const { timeoutMs, leaseMarginMs } = this.plan;
    if (this.newMeter !== undefined) return STREAM_LEASE_MARGINS * leaseMarginMs;
    const now = performance.now();
    this.deadlineMs ??= this.context.deadlineMs ?? now + timeoutMs;
    return Math.ceil(Math.max(this.deadlineMs - now, 0)) + leaseMarginMs;
  }

  /**
   * Settles an attempt without a complete answer. When a stream has begun or its client left, the received part is
   * charged. Otherwise the provider may have done all of the work, so the bound is presumed.
   */
  private settleUnfinished(reservation: Reservation, isCancelled: boolean): void {
    if (this.meter === undefined || !(this.hasBegun || isCancelled)) {
      const { bound, rate } = reservation;
      return this.settle(reservation, { figures: bound, rate, source: 'presumed' }, 'unknown');
    }
    this.settleReport(reservation, this.meter.usage, isCancelled ? 'cancelled' : 'unknown');
  }

  private settleReport(reservation: Reservation, reported: ReportedUsage, outcome: AttemptOutcome): void {
    const { estimate, cost, counts } = this.plan;
    const found = costOfReport(reported, estimate, cost, reservation.bound);
    this.hasReportedCost ||= reported.cost !== undefined;
    if (found.aboveBound !== undefined) {
      this.context.request.facts.usage_above_bound = found.aboveBound;
      counts.countAboveBound(reservation.dimensions.provider ?? '', found.aboveBound);
    }
    this.settle(reservation, found, outcome);
  }

  private settleFree(reservation: Reservation): void {
    const rate = rateOfNothing(this.plan.cost.prices);
    this.settle(reservation, { figures: NOTHING, rate, source: 'computed' }, 'failed');
  }

  private settle(
    reservation: Reservation,
    { figures, rate, source }: Pick<Settlement, 'figures' | 'rate' | 'source'>,
    outcome: AttemptOutcome,
  ): void {
    const { facts } = this.context.request;
    facts.first_token_ms = this.firstTokenMs ?? undefined;
    facts.cost_nano = (facts.cost_nano ?? 0) + Number(figures.costNano);
    const { id, at, dimensions } = reservation;
    if (figures !== NOTHING) {
      const charged = toQuantitiesJson(figures.quantities);
      facts.quantities = facts.quantities === undefined ? charged : sumOfUnits(facts.quantities, charged);
      this.plan.counts.countCharged(dimensions.provider ?? '', figures.quantities);
    }
    const settled = { figures, source, outcome, rate, firstTokenMs: this.firstTokenMs };
    if (reservation.charges.length > 0) this.trackSettling(this.store.settle({ reservation, ...settled }));
    else this.store.record({ id, at, dimensions, ...settled });
  }

  private release({ id, at, charges }: Reservation): void {
    if (charges.length > 0) this.trackSettling(this.store.release(id, at));
  }

  /** The store keeps the row until it is written, and counts rows that it drops. Only the next attempt waits for it. */
  private trackSettling(written: Promise<void>): void {
    this.settling = written.catch(() => undefined);
  }
}

/** An error instead of an answer, without usage. It is a refusal, whatever its status. */
function isRefusal({ failure, usage: { counts, cost } }: StreamMeter): boolean {
  return failure !== undefined && cost === undefined && Object.values(counts).every((count) => count === 0);
}
