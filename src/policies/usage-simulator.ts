import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import type { UsageUnit } from '../common/money/units.js';
import { Clock } from '../common/time/clock.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { EstimatedCosts } from '../usage/prices/estimated-costs.js';
import { fromQuantitiesJson, type Quantities, tokensOf } from '../usage/units.js';
import type { UsageBucket } from '../usage/usage-bucket.entity.js';
import { UsageBucketStore } from '../usage/usage-bucket.store.js';
import type { Charge } from '../usage/usage-store.types.js';
import { compilePolicies, readableMatches, chargeOf } from './compiled-policies.js';
import type { CompiledPolicy } from './compiled-policy.js';
import type { SimulateUsageDto, UsageEstimateDto } from './dto/simulate-usage.dto.js';
import { fromUnits, precisionOf, toUnits } from './limits.js';
import { PolicyStore } from './policy.store.js';
import { type SimulatedCall, SimulatedCalls } from './simulated-calls.js';
import type { Decision, SimulatedPolicyResponse, UsageSimulationResponse } from './usage-simulation.response.js';

/** The cost is undefined where a unit has no price. */
type Estimate = Readonly<Record<UsageUnit, bigint | undefined>>;

interface StatedUsage extends Estimate {
  /** Whose cost the caller does not state. */
  readonly unpriced: Quantities | undefined;
}

const NOT_METERED = 'not_metered';

/** Computes what the policies would decide for a call, and changes nothing. */
@Injectable()
export class UsageSimulator {
  constructor(
    private readonly store: PolicyStore,
    private readonly buckets: UsageBucketStore,
    private readonly calls: SimulatedCalls,
    private readonly costs: EstimatedCosts,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError `validation_failed`, `not_found` for what the caller names and cannot see */
  async simulate(principal: Principal, dto: SimulateUsageDto): Promise<UsageSimulationResponse> {
    const stated = readEstimate(dto.estimate ?? {});
    const call = await this.calls.read(principal, dto);
    const { facts, isMetered } = call;
    const estimate = isMetered ? await this.priced(principal, call, dto.model, stated) : NOT_METERED;
    const policies = readableMatches(compilePolicies(await this.store.active(principal.organisationId)), facts);
    const now = this.clock.now();
    const hits = policies.map((policy) => ({ policy, charge: chargeOf(policy, facts, now) }));
    const buckets = await this.buckets.findAll(
      principal.organisationId,
      hits.map(({ charge }) => charge),
    );
    const answers = hits.map(({ policy, charge }) => judge(policy, charge, bucketOfCharge(buckets, charge), estimate));
    // Every policy decides. A caller of one workspace sees only its own policies, as with GET.
    const shown = answers.filter((_, index) => isReadable(principal, hits[index]?.policy));
    return { object: 'usage-simulation', decision: overall(answers, isMetered), policies: shown };
  }

  /** With the cost of the quantities, where the caller does not state it. */
  private async priced(
    { organisationId }: Principal,
    { provider, facts: { endpoint } }: SimulatedCall,
    model: string | undefined,
    { unpriced: quantities, ...stated }: StatedUsage,
  ): Promise<Estimate> {
    if (quantities === undefined || provider === undefined || model === undefined) return stated;
    return { ...stated, cost: await this.costs.costOf({ organisationId, provider, model, endpoint, quantities }) };
  }
}

function isReadable({ workspaceId }: Principal, policy: CompiledPolicy | undefined): boolean {
  return workspaceId === null || policy?.workspaceId === workspaceId;
}

function readEstimate({ cost, tokens, quantities: json }: UsageEstimateDto): StatedUsage {
  if (tokens !== undefined && json !== undefined) {
    throw invalidField('estimate.quantities', 'must not be given together with tokens');
  }
  const costNano = toUnits('cost', cost ?? 0);
  if (costNano === undefined) throw invalidField('estimate.cost', `must ${precisionOf('cost')}`);
  if (json === undefined) return { cost: costNano, tokens: BigInt(tokens ?? 0), unpriced: undefined };
  const quantities = fromQuantitiesJson(json);
  return { cost: costNano, tokens: tokensOf(quantities), unpriced: cost === undefined ? quantities : undefined };
}

function bucketOfCharge(buckets: readonly UsageBucket[], charge: Charge): UsageBucket | undefined {
  return buckets.find(
    (bucket) =>
      bucket.policyId === charge.policyId &&
      bucket.bucketHash === charge.bucketHash &&
      bucket.windowId === charge.windowId,
  );
}

function judge(
  policy: CompiledPolicy,
  { valueKey, limit, unit, resetsAt }: Charge,
  bucket: UsageBucket | undefined,
  estimate: Estimate | typeof NOT_METERED,
): SimulatedPolicyResponse {
  const used = BigInt(bucket?.used ?? 0);
  const reserved = BigInt(bucket?.reserved ?? 0);
  const left = limit - used - reserved;
  return {
    policy_id: policy.id,
    name: policy.name,
    type: unit,
    enforcement: policy.enforced ? 'strict' : 'monitor',
    value_key: valueKey,
    credit_limit: fromUnits(unit, limit),
    current_usage: fromUnits(unit, used),
    reserved: fromUnits(unit, reserved),
    headroom: fromUnits(unit, left > 0n ? left : 0n),
    next_reset_at: toUnixSeconds(resetsAt ?? null),
    decision: decide(used, reserved, estimate === NOT_METERED ? estimate : estimate[unit], limit),
  };
}

/**
 * Decides as the usage store does: a call without usage is admitted even if the limit is exceeded. Of calls that are not metered,
 * those that start work are refused under a limit that is used up.
 */
function decide(
  used: bigint,
  reserved: bigint,
  amount: Estimate[UsageUnit] | typeof NOT_METERED,
  limit: bigint,
): Decision {
  if (amount === NOT_METERED) return used >= limit ? 'exceeded' : NOT_METERED;
  if (amount === undefined) return 'price_unknown';
  if (amount === 0n) return 'admitted';
  if (used + amount > limit) return 'exceeded';
  return used + reserved + amount > limit ? 'contended' : 'admitted';
}

function overall(answers: readonly SimulatedPolicyResponse[], isMetered: boolean): Decision {
  const decisions = answers.filter(({ enforcement }) => enforcement === 'strict').map(({ decision }) => decision);
  // Prices are looked up before anything is reserved.
  if (decisions.includes('price_unknown')) return 'price_unknown';
  if (decisions.includes('exceeded')) return 'exceeded';
  if (!isMetered) return 'not_metered';
  return decisions.includes('contended') ? 'contended' : 'admitted';
}
