import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { readableMatches } from '../policies/compiled-policies.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import { PolicyCache } from '../policies/policy.cache.js';
import type { PolicyAttributes } from '../policies/policy-keys.js';
import { RunningCalls } from '../common/running-calls.js';
import { Metrics } from '../telemetry/metrics.js';
import { timeoutMsOf } from '../upstream/provider-call.js';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import { unpricedUnit } from '../usage/prices/cost.js';
import { PriceCatalogue } from '../usage/prices/price-catalogue.js';
import type { Price, PricedUnit } from '../usage/prices/price.types.js';
import { QUANTITY_UNITS, type Quantities, type QuantityUnit } from '../usage/units.js';
import type { UsageDimensions, UsageStore } from '../usage/usage-store.types.js';
import { USAGE_STORE } from '../usage/usage-store.token.js';
import type { MeteredUse, UsageEstimate } from './billable-use.js';
import { type AboveBound, costOfEstimate, measuredUnits } from './call-cost.js';
import type { ManyCalls } from './deferred/many-calls.js';
import { priceUnknown, usageNotBounded } from './limit-refusal.js';
import { MeteredCall, type UsageCounts } from './metered-call.js';
import { listedModel, type ProviderContext } from './provider-context.decorator.js';

/** The longest wait at shutdown for calls whose clients were disconnected. */
const END_MS = 5_000;
const NO_PRICES: readonly Price[] = [];
const NO_ALIASES: PolicyAttributes['modelAliases'] = [];

/** Finds the prices of models and counts charges in the metrics. */
@Injectable()
export class CallPrices implements UsageCounts {
  constructor(
    private readonly catalogue: PriceCatalogue,
    private readonly metrics: Metrics,
  ) {}

  /**
   * The prices of a model; empty when it has none, undefined when the database is unreachable and no prices are cached.
   * Never rejects.
   */
  pricesFor(
    organisationId: string,
    provider: string,
    model: string,
    at: Date,
    units: readonly PricedUnit[],
  ): MaybePromise<readonly Price[] | undefined> {
    const found = this.catalogue.pricesFor(organisationId, provider, model, at, units);
    return found instanceof Promise ? found.catch(() => undefined) : found;
  }

  countMissing(provider: string): void {
    this.metrics.priceMissing.inc({ provider });
  }

  countCharged(provider: string, quantities: Quantities): void {
    for (const unit of QUANTITY_UNITS) {
      const quantity = quantities[unit];
      if (quantity !== undefined) this.metrics.usageQuantities.inc({ provider, unit }, Number(quantity));
    }
  }

  countAboveBound(provider: string, result: AboveBound): void {
    this.metrics.usageAboveBound.inc({ provider, result });
  }
}

/** The model that a call is billed as. */
export interface SoldModel {
  readonly provider: string;
  /** For a deployment, the model that its model route or virtual key names as its base. */
  readonly model: string;
  /** Empty when the model has none; undefined when the database is unreachable. */
  readonly prices: readonly Price[] | undefined;
}

/**
 * Creates the `MeteredCall` of each call: its cost, its policies, its ledger row. At shutdown, waits until all are
 * settled.
 */
@Injectable()
export class UsageMeter implements BeforeApplicationShutdown {
  private readonly running = new RunningCalls();
  private readonly fail = (error: unknown): never => {
    this.running.end();
    throw error;
  };

  constructor(
    private readonly policies: PolicyCache,
    private readonly prices: CallPrices,
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Begins to meter a call. Policies are checked at each attempt, so this never rejects for a limit. Call `end` of the
   * result once, however the call ends.
   */
  begin(context: ProviderContext, use: MeteredUse): MaybePromise<MeteredCall> {
    this.running.begin();
    try {
      const estimate = use.estimate();
      const { organisationId } = context.principal;
      const { provider } = context.virtualKey;
      const model = listedModel(context, use.model);
      const units = measuredUnits(estimate);
      const prices = this.prices.pricesFor(organisationId, provider.slug, model, this.clock.now(), units);
      const planAt = (found: SoldModel['prices']): MeteredCall =>
        this.plan(context, use, estimate, { provider: provider.slug, model, prices: found });
      return prices instanceof Promise ? prices.then(planAt).catch(this.fail) : planAt(prices);
    } catch (error) {
      return this.fail(error);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.running.idle(END_MS);
  }

  private plan(context: ProviderContext, use: MeteredUse, estimate: UsageEstimate, sold: SoldModel): MeteredCall {
    const facts = factsOf(context, use);
    const cost = costOfEstimate(estimate, sold.prices ?? NO_PRICES);
    const isUnpriced = !cost.isPriced;
    if (isUnpriced) this.prices.countMissing(sold.provider);
    const policiesNow = (): MaybePromise<readonly CompiledPolicy[]> =>
      chain(this.policies.get(context.principal.organisationId, this.clock.now().getTime()), (known) => {
        const policies = readableMatches(known, facts);
        if (estimate.unbounded !== undefined) this.assertNotLimited(context, policies, estimate.unbounded);
        if (isUnpriced) this.assertAllowed(context, policies, { unit: estimate.unit, calls: [estimate.counts] }, sold);
        return policies;
      });
    const dimensions = dimensionsOf(context, facts);
    const { USAGE_LEASE_MARGIN_MS: leaseMarginMs } = this.config;
    const timeoutMs = timeoutMsOf(context.virtualKey.credential.options, this.config);
    const { noteRoom } = use;
    const limits = { policiesNow, timeoutMs, leaseMarginMs, noteRoom };
    const plan = { facts, dimensions, estimate, cost, counts: this.prices, ...limits };
    return new MeteredCall(plan, context, this.store, this.clock, this.running);
  }

  /**
   * For a call whose usage has no bound before it is sent.
   * @param field of the request that leaves it open
   * @param lack what the field lacks, when the request does not show it
   * @throws GatewayError `usage_not_bounded`
   */
  assertNotLimited(
    { request }: ProviderContext,
    policies: readonly CompiledPolicy[],
    field: string,
    lack?: string,
  ): void {
    const refusing = policies.filter(({ allowsUnbounded }) => !allowsUnbounded);
    const policy = refusing.find(({ enforced }) => enforced);
    if (policy !== undefined) throw usageNotBounded(policy.id, field, lack);
    noteMonitored(request, 'usage_not_bounded', refusing);
  }

  /**
   * For calls whose model lacks a price.
   * @throws GatewayError `price_unknown`, `store_unavailable`
   */
  assertAllowed(
    { request }: ProviderContext,
    policies: readonly CompiledPolicy[],
    { unit, calls }: Pick<ManyCalls, 'unit' | 'calls'>,
    { provider, model, prices }: SoldModel,
  ): void {
    const onCosts = policies.filter(({ unit }) => unit === 'cost');
    const policy = onCosts.find(({ enforced }) => enforced);
    if (policy !== undefined && prices === undefined) throw new GatewayError('store_unavailable', { reason: 'prices' });
    if (this.config.USAGE_UNPRICED === 'allow') return;
    if (policy !== undefined) {
      let lacking: QuantityUnit | undefined;
      for (const counts of calls) lacking ??= unpricedUnit({ unit, counts }, prices ?? NO_PRICES);
      throw priceUnknown(policy.id, provider, model, lacking ?? unit);
    }
    if (prices !== undefined) noteMonitored(request, 'price_unknown', onCosts);
  }
}

/** Notes in the log line that a monitoring policy would have refused the call. */
function noteMonitored(
  { facts }: ProviderContext['request'],
  result: 'usage_not_bounded' | 'price_unknown',
  [monitor]: readonly CompiledPolicy[],
): void {
  if (monitor === undefined) return;
  facts.limit_monitored ??= result;
  facts.limit_monitored_policy ??= monitor.id;
}

/** The columns of the ledger for the first attempt of a use. */
export function dimensionsOf({ principal, request }: ProviderContext, facts: PolicyAttributes): UsageDimensions {
  return {
    organisationId: principal.organisationId,
    workspaceId: facts.workspace_id ?? null,
    apiKeyId: principal.id,
    virtualKey: facts.virtual_key ?? null,
    provider: facts.provider ?? null,
    model: facts.model ?? null,
    endpoint: facts.endpoint ?? '',
    mcpServer: null,
    mcpTool: null,
    metadata: facts.metadata,
    traceId: request.trace.traceId,
    attempt: 1,
  };
}

/** The parts of a use that policies read. */
export interface NamedUse {
  readonly endpoint: string;
  /** undefined when the call names no model. */
  readonly model: string | undefined;
}

export function factsOf(
  { principal, virtualKey, modelNames, request }: ProviderContext,
  use: NamedUse,
): PolicyAttributes {
  const provider = virtualKey.provider.slug;
  return {
    api_key: principal.id,
    organisation_id: principal.organisationId,
    workspace_id: principal.workspaceId ?? virtualKey.workspaceId ?? undefined,
    virtual_key: virtualKey.slug,
    provider,
    model: use.model === undefined ? undefined : canonicalModel(provider, use.model),
    model_requested: modelNames?.requested,
    modelAliases: use.model === undefined ? NO_ALIASES : modelAliases(provider, use.model),
    endpoint: use.endpoint,
    mcp_server: undefined,
    mcp_tool: undefined,
    metadata: request.metadata,
  };
}
