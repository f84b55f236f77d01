import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-error.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { uuidv7 } from '../../common/uuid.js';
import { AppConfig } from '../../config/environment.js';
import {
  chargeOf,
  type CompiledPolicies,
  mayApply,
  mayBeLimited,
  readableMatches,
} from '../../policies/compiled-policies.js';
import type { CompiledPolicy } from '../../policies/compiled-policy.js';
import { PolicyCache } from '../../policies/policy.cache.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { timeoutMsOf } from '../../upstream/provider-call.js';
import { NO_RATE } from '../../usage/prices/price.types.js';
import { QUANTITY_UNITS, type QuantityUnit } from '../../usage/units.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import {
  type Reservation,
  type ReserveOutcome,
  StoreUnavailableError,
  type UsageStore,
} from '../../usage/usage-store.types.js';
import { NOTHING } from '../call-cost.js';
import { refusalOf, remainingOf } from '../limit-refusal.js';
import { monitoredRefusal } from '../monitored-limits.js';
import { pricedModel, type ProviderContext } from '../provider-context.decorator.js';
import { Isolation } from '../relay/isolation.js';
import { isRecordable } from '../relay/object-ids.js';
import { CallPrices, dimensionsOf, factsOf, UsageMeter } from '../usage-meter.js';
import { DeferredCall } from './deferred-call.js';
import type { DeferredMeter, JobPlan, PlannedCalls } from './deferred-meter.js';
import { boundOfCalls } from './many-calls.js';
import { figuresJson, type JobPart } from './provider-job.entity.js';
import { type NewJob, ProviderJobStore } from './provider-job.store.js';

/** A job is looked after for so long after it should be over. */
const JOB_MARGIN_MS = 2 * 3_600_000;

/** What a part of a job is charged to. */
interface Admitted {
  readonly reservation: Reservation;
  readonly policies: readonly CompiledPolicy[];
  /** As the provider knows it. */
  readonly model: string | null;
  readonly isBounded: boolean;
}

/** Reserves what a job may use before it is started, and remembers it until it is settled. */
@Injectable()
export class DeferredCalls {
  constructor(
    private readonly policies: PolicyCache,
    private readonly meter: UsageMeter,
    private readonly prices: CallPrices,
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    private readonly jobs: ProviderJobStore,
    private readonly isolation: Isolation,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Call `succeeded` or `failed` of the result once.
   * @param body of the request that starts the job
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_contended`, `usage_not_bounded`, `price_unknown`,
   * `usage_limit_unreadable`, `store_unavailable`
   */
  async begin(context: ProviderContext, meter: DeferredMeter, body: JsonObject): Promise<DeferredCall> {
    const { endpoint } = meter;
    const { organisationId } = context.principal;
    const known = await this.policies.get(organisationId, this.clock.now().getTime());
    // Without a limit, the caller need not wait for what a plan takes.
    const isLimited = mayBeLimited(known, factsOf(context, { endpoint, model: undefined }));
    const plan: JobPlan = isLimited ? await meter.planOf(context, body) : { parts: [] };
    const at = this.clock.now();
    const parts =
      plan.parts.length === 0
        ? [this.planUnknown(context, meter, known, plan, at)]
        : await Promise.all(plan.parts.map((part) => this.plan(context, meter, known, { ...plan, part }, at)));
    const reserved = await this.reserve(context, parts);
    const unlimited = parts.flatMap(({ reservation }) => (reserved.includes(reservation) ? [] : reservation));
    const job = this.jobOf(context, meter, body, parts, at);
    return new DeferredCall(job, reserved, unlimited, await this.record(job, reserved));
  }

  /** The answer says that the job exists. */
  async succeeded(call: DeferredCall, answer: unknown): Promise<void> {
    const id = isObject(answer) ? answer['id'] : undefined;
    if (typeof id !== 'string' || !isRecordable(id)) return this.keep(call);
    const { job } = call;
    try {
      const isOwn = await this.jobs.identify(job.id, id, this.inFuture(this.config.PROVIDER_JOB_CHECK_MS));
      await (isOwn ? this.keep(call) : this.drop(call));
    } catch (error) {
      this.warn(job, error, id);
    }
  }

  /** @param error that the caller gets */
  async failed(call: DeferredCall, error: unknown): Promise<void> {
    const { result } = call;
    try {
      if (result === 'nothing_sent') await this.drop(call);
      else if (result === 'free' || (result === 'answered' && isProvidersError(error))) await this.settleFree(call);
      else await this.keep(call);
    } catch (defect) {
      this.warn(call.job, defect);
    }
  }

  private async plan(
    context: ProviderContext,
    { endpoint, mode }: DeferredMeter,
    known: CompiledPolicies,
    { part, unbounded }: Pick<JobPlan, 'unbounded'> & { readonly part: PlannedCalls },
    at: Date,
  ): Promise<Admitted> {
    const { model, unit, calls } = part;
    const facts = factsOf(context, { endpoint, model });
    const policies = readableMatches(known, facts);
    if (unbounded !== undefined) this.meter.assertNotLimited(context, policies, unbounded.field, unbounded.reason);
    const provider = context.virtualKey.provider.slug;
    const sold = { provider, model: pricedModel(context, model) };
    const prices = await this.prices.pricesFor(
      context.principal.organisationId,
      provider,
      sold.model,
      at,
      unitsOf(part),
    );
    const { isPriced, figures, rate } = boundOfCalls({ unit, mode, calls }, prices ?? []);
    if (!isPriced) this.prices.countMissing(provider);
    if (!isPriced) this.meter.assertAllowed(context, policies, { unit }, { ...sold, prices });
    const charges = policies.map((policy) => chargeOf(policy, facts, at));
    const dimensions = dimensionsOf(context, facts);
    const reservation = {
      id: uuidv7(at),
      at,
      leaseMs: this.leaseMs(context),
      dimensions,
      bound: figures,
      rate,
      charges,
    };
    return { reservation, policies, model, isBounded: unbounded === undefined };
  }

  /** A job of which no model is known. */
  private planUnknown(
    context: ProviderContext,
    { endpoint }: DeferredMeter,
    known: CompiledPolicies,
    { unbounded }: JobPlan,
    at: Date,
  ): Admitted {
    const facts = factsOf(context, { endpoint, model: undefined });
    const policies = readableMatches(known, facts);
    if (unbounded !== undefined) {
      const possible = known.readable.filter((policy) => mayApply(policy, facts));
      this.meter.assertNotLimited(context, possible, unbounded.field, unbounded.reason);
    }
    const charges = policies.map((policy) => chargeOf(policy, facts, at));
    const dimensions = dimensionsOf(context, facts);
    const leaseMs = this.leaseMs(context);
    const reservation = { id: uuidv7(at), at, leaseMs, dimensions, bound: NOTHING, rate: NO_RATE, charges };
    return { reservation, policies, model: null, isBounded: false };
  }

  /** All parts or none. Returns those that limits apply to. */
  private async reserve(context: ProviderContext, parts: readonly Admitted[]): Promise<readonly Reservation[]> {
    const reserved: Reservation[] = [];
    const { facts } = context.request;
    try {
      for (const { reservation, policies } of parts) {
        const { charges } = reservation;
        if (charges.length === 0) continue;
        const outcome = await this.store.reserve(reservation);
        facts.limit_decision = outcome.kind;
        if (outcome.kind !== 'admitted') throw refusalOf(outcome, charges, policies);
        reserved.push(reservation);
        noteAdmission(context, reservation, outcome);
      }
      return reserved;
    } catch (cause) {
      await this.release(reserved);
      if (!(cause instanceof StoreUnavailableError)) throw cause;
      facts.limit_decision = 'store_down';
      throw new GatewayError('store_unavailable', { cause, reason: 'usage' });
    }
  }

  private jobOf(
    context: ProviderContext,
    meter: DeferredMeter,
    body: JsonObject,
    parts: readonly Admitted[],
    at: Date,
  ): NewJob {
    const { organisationId, provider, server } = this.isolation.ownershipOf(context);
    const dimensions = dimensionsOf(context, factsOf(context, { endpoint: meter.endpoint, model: undefined }));
    return {
      id: uuidv7(at),
      organisationId,
      kind: meter.kind,
      virtualKeyId: context.virtualKey.id,
      provider,
      server,
      account: context.account ?? {},
      traits: meter.traitsOf(body),
      dimensions,
      parts: parts.map(partOf),
      at,
      endsAt: new Date(at.getTime() + meter.lifetimeMs(body) + JOB_MARGIN_MS),
      // By then, its create has been answered.
      nextCheckAt: new Date(at.getTime() + Math.max(this.leaseMs(context), this.config.PROVIDER_JOB_CHECK_MS)),
    };
  }

  /** Whether it could be written down. Under a limit, a job that could not must not be started. */
  private async record(job: NewJob, reserved: readonly Reservation[]): Promise<boolean> {
    try {
      await this.jobs.add(job);
      return true;
    } catch (cause) {
      this.warn(job, cause);
      if (reserved.length === 0) return false;
      await this.release(reserved);
      throw new GatewayError('store_unavailable', { cause, reason: 'database' });
    }
  }

  /** The job exists, or may exist: what is reserved for it stays reserved for as long as it may take. */
  private async keep({ job, reserved }: DeferredCall): Promise<void> {
    for (const reservation of reserved)
      await this.store.extend({ reservation, bound: reservation.bound, expiresAt: job.endsAt });
  }

  /** No job came of the call. */
  private async drop({ job, reserved, isRecorded }: DeferredCall): Promise<void> {
    await this.release(reserved);
    if (isRecorded) await this.jobs.remove(job.id);
  }

  private async settleFree({ job, reserved, unlimited, isRecorded }: DeferredCall): Promise<void> {
    const settled = {
      figures: NOTHING,
      rate: NO_RATE,
      source: 'computed',
      outcome: 'failed',
      firstTokenMs: null,
    } as const;
    for (const reservation of reserved) await this.store.settle({ reservation, ...settled });
    for (const { id, at, dimensions } of unlimited) this.store.record({ id, at, dimensions, ...settled });
    if (isRecorded) await this.jobs.remove(job.id);
  }

  private async release(reserved: readonly Reservation[]): Promise<void> {
    for (const { id, at } of reserved) await this.store.release(id, at);
  }

  private leaseMs({ virtualKey }: ProviderContext): number {
    return timeoutMsOf(virtualKey.credential.options, this.config) + this.config.USAGE_LEASE_MARGIN_MS;
  }

  private inFuture(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private warn({ id, kind, provider }: NewJob, error: unknown, upstreamId?: string): void {
    const event = 'provider_job_not_recorded';
    this.logger.warn({ event, job_id: id, kind, provider, upstream_id: upstreamId, error: describeDefect(error) });
  }
}

function noteAdmission(
  { request, answer }: ProviderContext,
  reservation: Reservation,
  { buckets }: ReserveOutcome & { readonly kind: 'admitted' },
): void {
  const remaining = remainingOf(buckets, reservation.charges);
  if (remaining !== undefined) answer.setHeader('x-gateway-limit-remaining', remaining);
  const monitored = monitoredRefusal(reservation, buckets);
  request.facts.limit_monitored ??= monitored?.result;
  request.facts.limit_monitored_policy ??= monitored?.policyId;
}

function partOf({ reservation, model, isBounded }: Admitted): JobPart {
  const { id, charges, bound, rate } = reservation;
  return { id, model, isReserved: charges.length > 0, bound: { ...figuresJson(bound), rate }, isBounded };
}

/** Those for which prices are needed. */
function unitsOf({ calls, mayUse }: Pick<PlannedCalls, 'calls' | 'mayUse'>): readonly QuantityUnit[] {
  const used = new Set<QuantityUnit>(['request', ...mayUse]);
  for (const counts of calls) for (const unit of QUANTITY_UNITS) if (counts[unit] !== undefined) used.add(unit);
  return QUANTITY_UNITS.filter((unit) => used.has(unit));
}

/** An answer of success that holds an error: nothing was made. */
function isProvidersError(error: unknown): boolean {
  return error instanceof GatewayError && error.source === 'provider' && error.code !== 'provider_invalid_response';
}
