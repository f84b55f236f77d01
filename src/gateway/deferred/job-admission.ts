import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
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
import { timeoutMsOf } from '../../upstream/provider-call.js';
import { NO_RATE } from '../../usage/prices/price.types.js';
import { addQuantities, QUANTITY_UNITS, type QuantityUnit } from '../../usage/units.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import {
  type ExtendOutcome,
  type Reservation,
  StoreUnavailableError,
  type UsageFigures,
  type UsageStore,
} from '../../usage/usage-store.types.js';
import { NOTHING } from '../call-cost.js';
import { refusalOf } from '../limit-refusal.js';
import { noteAdmission } from '../monitored-limits.js';
import { pricedModel, type ProviderContext } from '../provider-context.decorator.js';
import { CallPrices, dimensionsOf, factsOf, UsageMeter } from '../usage-meter.js';
import type { DeferredMeter, JobPlan, PlannedCalls } from './deferred-meter.js';
import { boundOfCalls } from './many-calls.js';
import { figuresJson, figuresOf, type JobPart } from './provider-job.entity.js';
import type { MeteredJob } from './provider-job.store.js';

/** The reservation of one part of a job, and the policies that it is charged to. */
export interface PlannedPart {
  readonly reservation: Reservation;
  readonly policies: readonly CompiledPolicy[];
  /** The provider's name of the model; null when no model is known. */
  readonly model: string | null;
  /** The model whose prices apply; null: `model` itself. */
  readonly soldAs: string | null;
  readonly isBounded: boolean;
}

/** Reserves what a job may use, if its limits have room for it. */
@Injectable()
export class JobAdmission {
  constructor(
    private readonly policies: PolicyCache,
    private readonly meter: UsageMeter,
    private readonly prices: CallPrices,
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Whether a limit may apply. If none does, no plan is needed, which takes time. */
  async isLimited(context: ProviderContext, { endpoint }: DeferredMeter): Promise<boolean> {
    return mayBeLimited(await this.policiesOf(context), factsOf(context, { endpoint, model: undefined }));
  }

  /**
   * @param at when the job was admitted; by default now
   * @throws GatewayError `usage_not_bounded`, `price_unknown`, `usage_limit_unreadable`, `store_unavailable`
   */
  async partsOf(
    context: ProviderContext,
    meter: DeferredMeter,
    plan: JobPlan,
    at = this.clock.now(),
  ): Promise<readonly PlannedPart[]> {
    const known = await this.policiesOf(context);
    if (plan.parts.length === 0) return [this.planUnknown(context, meter, known, plan, at)];
    return Promise.all(plan.parts.map((part) => this.plan(context, meter, known, { ...plan, part }, at)));
  }

  /**
   * Reserves all parts or none. Returns the parts that limits apply to.
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_contended`, `store_unavailable`
   */
  async reserve(context: ProviderContext, parts: readonly PlannedPart[]): Promise<readonly Reservation[]> {
    const reserved: Reservation[] = [];
    try {
      for (const { reservation, policies } of parts) {
        if (reservation.charges.length === 0) continue;
        const outcome = await this.decided(context, this.store.reserve(reservation));
        if (outcome.kind !== 'admitted') throw refusalOf(outcome, reservation.charges, policies);
        noteAdmission(context, reservation, outcome);
        reserved.push(reservation);
      }
      return reserved;
    } catch (error) {
      await this.release(reserved);
      throw error;
    }
  }

  /**
   * Reserves more for a part of a job. Returns the part with its new bound.
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_contended`, `store_unavailable`
   */
  async raise(
    context: ProviderContext,
    { at, endsAt }: Pick<MeteredJob, 'at' | 'endsAt'>,
    part: JobPart,
    more: PlannedPart,
  ): Promise<JobPart> {
    const held = figuresOf(part.bound);
    const bound = sumOf(held, more.reservation.bound);
    const reservation = { ...more.reservation, id: part.id, at, bound: held };
    const outcome = await this.decided(context, this.store.extend({ reservation, bound, expiresAt: endsAt }));
    // `gone`: the reservation is already charged. The charge is corrected when the job is settled.
    if (outcome.kind !== 'admitted' && outcome.kind !== 'gone')
      throw refusalOf(outcome, reservation.charges, more.policies);
    return { ...part, bound: { ...figuresJson(bound), rate: part.bound.rate } };
  }

  async release(reserved: readonly Reservation[]): Promise<void> {
    for (const { id, at } of reserved) await this.store.release(id, at);
  }

  leaseMs({ virtualKey }: ProviderContext): number {
    return timeoutMsOf(virtualKey.credential.options, this.config) + this.config.USAGE_LEASE_MARGIN_MS;
  }

  private policiesOf({ principal }: ProviderContext): Promise<CompiledPolicies> {
    return Promise.resolve(this.policies.get(principal.organisationId, this.clock.now().getTime()));
  }

  private async decided<Outcome extends ExtendOutcome>(
    { request: { facts } }: ProviderContext,
    deciding: Promise<Outcome>,
  ): Promise<Outcome> {
    try {
      const outcome = await deciding;
      if (outcome.kind !== 'gone') facts.limit_decision = outcome.kind;
      return outcome;
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError)) throw cause;
      facts.limit_decision = 'store_down';
      throw new GatewayError('store_unavailable', { cause, reason: 'usage' });
    }
  }

  private async plan(
    context: ProviderContext,
    { endpoint, mode }: DeferredMeter,
    known: CompiledPolicies,
    { part, unbounded, mayChange }: Omit<JobPlan, 'parts'> & { readonly part: PlannedCalls },
    at: Date,
  ): Promise<PlannedPart> {
    const { model, unit, calls } = part;
    const facts = factsOf(context, { endpoint, model });
    const policies = readableMatches(known, facts);
    if (unbounded !== undefined) this.meter.assertNotLimited(context, policies, unbounded.field, unbounded.reason);
    const provider = context.virtualKey.provider.slug;
    const sold = { provider, model: pricedModel(context, model) };
    const soldAs = soldAsIn(context);
    const prices = await this.prices.pricesFor(
      context.principal.organisationId,
      provider,
      sold.model,
      at,
      unitsOf(part),
    );
    const { isPriced, figures, rate } = boundOfCalls({ unit, mode, calls }, prices ?? []);
    if (!isPriced) this.prices.countMissing(provider);
    if (!isPriced) this.meter.assertAllowed(context, policies, part, { ...sold, prices });
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
    return { reservation, policies, model, soldAs, isBounded: unbounded === undefined && mayChange !== true };
  }

  /** The only part of a job whose models are not known. */
  private planUnknown(
    context: ProviderContext,
    { endpoint }: DeferredMeter,
    known: CompiledPolicies,
    { unbounded }: JobPlan,
    at: Date,
  ): PlannedPart {
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
    return { reservation, policies, model: null, soldAs: soldAsIn(context), isBounded: false };
  }
}

/** The base model that a model route names. Without one, the virtual key alone decides. */
function soldAsIn({ modelNames }: ProviderContext): string | null {
  return modelNames?.route?.target.baseModel ?? null;
}

function sumOf(one: UsageFigures, other: UsageFigures): UsageFigures {
  return {
    costNano: one.costNano + other.costNano,
    quantities: addQuantities(one.quantities, other.quantities),
  };
}

/** The units that need a price. */
function unitsOf({ calls, mayUse }: Pick<PlannedCalls, 'calls' | 'mayUse'>): readonly QuantityUnit[] {
  const used = new Set<QuantityUnit>(['request', ...mayUse]);
  for (const counts of calls) for (const unit of QUANTITY_UNITS) if (counts[unit] !== undefined) used.add(unit);
  return QUANTITY_UNITS.filter((unit) => used.has(unit));
}
