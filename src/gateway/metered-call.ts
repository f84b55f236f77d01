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
  type ReserveOutcome,
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
import { leftOf, refusalOf, type RefusedReservation, remainingOf } from './limit-refusal.js';
import { type MonitoredRefusal, monitoredRefusal } from './monitored-limits.js';
import { modelAnswerOf, sumOfUnits } from './model-answer.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { chargeOf } from '../policies/compiled-policies.js';

/** A failed attempt is settled before the next is reserved, unless the database lets it wait for longer. */
const SETTLING_MS = 1_000;
/** A stream may go on for hours: it renews a short lease each time that half of it is over. In margins. */
const STREAM_LEASE = 2;
/** Of a US dollar, as the ledger counts. */
const NANO_DECIMALS = 9;
const NO_BYTES = Buffer.alloc(0);
const NO_POLICIES: readonly CompiledPolicy[] = [];
const NO_CHARGES: readonly Charge[] = [];

/** For the metrics. */
export interface UsageCounts {
  countCharged(provider: string, quantities: Quantities): void;
  countAboveBound(provider: string, result: AboveBound): void;
}

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
  /** Of the whole call, or of the silence in a stream. */
  readonly timeoutMs: number;
  /** What a lease is longer than its call can be. */
  readonly leaseMarginMs: number;
  readonly counts: UsageCounts;
  readonly noteRoom: MeteredUse['noteRoom'];
}

/**
 * The usage of one call: the one place that reserves and settles. Each attempt at the provider is reserved, then settled or
 * released, exactly once; without a policy it is only noted, and no one waits for that.
 *
 * A streamed answer is counted while it passes: its reservation grows with it, and what came is charged however it ends.
 */
export class MeteredCall implements AttemptObserver {
  /** The attempt that is in flight, or whose answer is still to be read. */
  private open: Reservation | undefined;
  private settling: Promise<unknown> | undefined;
  /** With those after a renewed credential. */
  private attempts = 0;
  /** Of an answer that passes as a stream. */
  private newMeter: (() => StreamMeter) | undefined;
  /** Of the answer of the last attempt. */
  meter: StreamMeter | undefined;
  /** Whether some of the stream has come. */
  private hasBegun = false;
  /** By `performance.now()`. */
  private startedAt = 0;
  private firstTokenMs: number | null = null;
  /** Whether the provider said what it cost. */
  private hasReportedCost = false;
  private renewal: NodeJS.Timeout | undefined;
  private isExtending = false;
  /** By `performance.now()`. */
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
   * Policies may change while an attempt is in flight or waits for its turn, so each is checked against the current ones.
   * Throws and rejects with the error for the caller.
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
   * For an answer that passes as a stream: its filter. Call before the first attempt. The filter ends the stream when a usage limit
   * leaves no room for more.
   */
  meterStream(newMeter: () => StreamMeter): BodyFilter {
    this.newMeter = newMeter;
    return { push: (chunk) => this.see(chunk), end: () => this.meter?.end() ?? NO_BYTES };
  }

  /** For an answer that is here as a whole: its reservation need not grow before it is settled. */
  meterWhole(body: Buffer): Buffer {
    const { meter } = this;
    if (meter === undefined) return body;
    const passed = meter.push(body);
    this.noteOutput(meter);
    const rest = meter.end();
    // Most have none, and the copy of a large body is dear.
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

  /** The answer was read, and says what it costs. */
  succeed(reported: ReportedUsage): void {
    const answered = this.open;
    if (answered === undefined) return;
    this.open = undefined;
    this.settleReport(answered, reported, 'answered');
  }

  /** The answer is an error, whatever its status says: it counts, at no cost. */
  refuse(): void {
    const answered = this.open;
    this.open = undefined;
    if (answered !== undefined) this.settleFree(answered);
  }

  /** The stream is complete, and its meter knows what it costs. */
  succeedStream(): void {
    if (this.meter === undefined) return;
    this.noteAnswer(this.meter);
    this.succeed(this.meter.usage);
  }

  /** For the log line. */
  private noteAnswer({ answer, hasError, usage: { counts } }: StreamMeter): void {
    const { facts } = this.context.request;
    facts.outcome = hasError === true ? 'provider_error' : undefined;
    facts.finish_reason = answer?.finishReason;
    const seconds = (performance.now() - this.startedAt - (this.firstTokenMs ?? 0)) / 1_000;
    if (counts.output !== undefined && seconds > 0)
      facts.tokens_per_second = Math.round((counts.output / seconds) * 10) / 10;
  }

  /** Of a stream or a whole answer that its meter has read. */
  get answer(): ModelAnswer | undefined {
    return this.meter === undefined ? undefined : modelAnswerOf(this.meter, this.firstTokenMs ?? undefined);
  }

  /** US dollars that the request has cost so far, as a decimal; undefined where its model has no price. */
  get costSoFar(): string | undefined {
    if (!this.plan.cost.isPriced && !this.hasReportedCost) return undefined;
    return formatDecimal(BigInt(this.context.request.facts.cost_nano ?? 0), NANO_DECIMALS);
  }

  /** However the call ended: what is not accounted for by now may have been done by the provider. */
  end(): void {
    const left = this.open;
    this.open = undefined;
    clearInterval(this.renewal);
    if (left !== undefined) this.settleUnfinished(left, this.refusal !== undefined);
    this.running.end();
  }

  private see(chunk: Buffer): Buffer {
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

  /** When more came than is reserved. */
  private extendBeyond(open: Reservation, meter: StreamMeter): void {
    // A report that is not believed is the bound itself.
    const came = costOfReport(meter.usage, this.plan.estimate, this.plan.cost, open.bound).figures;
    if (isWithinBound(came.quantities, open.bound.quantities)) return;
    this.extend(open, boundOf(largestQuantities(came.quantities, open.bound.quantities), this.plan.cost));
  }

  /** By the clock, not by what comes: a stream may be silent for longer than its lease. */
  private renewLease({ leaseMs }: Reservation): void {
    clearInterval(this.renewal);
    this.renewal = setInterval(() => {
      if (this.open !== undefined && !this.isExtending) this.extend(this.open, this.open.bound);
    }, leaseMs / STREAM_LEASE).unref();
  }

  private extend(open: Reservation, bound: UsageFigures): void {
    this.isExtending = true;
    void this.askForMore(open, bound).finally(() => (this.isExtending = false));
  }

  /** Never rejects. A store that cannot be reached lets the stream go on: it was admitted, and is settled at its end. */
  private async askForMore(open: Reservation, bound: UsageFigures): Promise<void> {
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
    this.tellRemaining(outcome, reservation.charges);
    this.noteMonitored(monitoredRefusal(reservation, outcome.buckets));
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

  /** The attempt, dated by the current time less its duration so far. */
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

  /** Until some time after the deadline of the call: by then its gateway has settled it, or died. */
  private leaseMs(): number {
    const { timeoutMs, leaseMarginMs } = this.plan;
    if (this.newMeter !== undefined) return STREAM_LEASE * leaseMarginMs;
    const now = performance.now();
    this.deadlineMs ??= this.context.deadlineMs ?? now + timeoutMs;
    return Math.ceil(Math.max(this.deadlineMs - now, 0)) + leaseMarginMs;
  }

  /**
   * An attempt without a complete answer. Of a stream that has begun, or whose client left, what came is charged, and the rest
   * released. Of any other, the provider may have done all of the work: the bound is presumed.
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
