import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import type { UsageUnit } from '../common/money/units.js';
import { Clock } from '../common/time/clock.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { fromQuantitiesJson, tokensOf } from '../usage/units.js';
import { foldNames } from '../usage/call-names.js';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import type { UsageBucket } from '../usage/usage-bucket.entity.js';
import { UsageBucketStore } from '../usage/usage-bucket.store.js';
import type { Charge } from '../usage/usage-store.types.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { compilePolicies, readableMatches, chargeOf } from './compiled-policies.js';
import type { CompiledPolicy } from './compiled-policy.js';
import type { SimulateUsageDto, UsageEstimateDto } from './dto/simulate-usage.dto.js';
import { fromUnits, precisionOf, toUnits } from './limits.js';
import { NameableKeys } from './nameable-keys.js';
import type { PolicyAttributes } from './policy-keys.js';
import { PolicyStore } from './policy.store.js';
import type { Decision, SimulatedPolicyResponse, UsageSimulationResponse } from './usage-simulation.response.js';

type Estimate = Readonly<Record<UsageUnit, bigint>>;

/** Computes what the policies would decide for a call, and changes nothing. */
@Injectable()
export class UsageSimulator {
  constructor(
    private readonly store: PolicyStore,
    private readonly buckets: UsageBucketStore,
    private readonly workspaces: WorkspacesService,
    private readonly keys: NameableKeys,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError `not_found` for a workspace or key that the caller cannot see */
  async simulate(principal: Principal, dto: SimulateUsageDto): Promise<UsageSimulationResponse> {
    const estimate = readEstimate(dto.estimate ?? {});
    const facts = await this.factsOf(principal, dto);
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
    return { object: 'usage-simulation', decision: overall(answers), policies: shown };
  }

  private async factsOf(principal: Principal, dto: SimulateUsageDto): Promise<PolicyAttributes> {
    const { workspace_id: ref, model } = dto;
    const { api_key, provider, endpoint } = foldNames(dto);
    const workspaceId = ref === undefined ? principal.workspaceId : (await this.workspaces.get(principal, ref)).id;
    const enforced = await this.keys.enforcedMetadata(principal, api_key);
    await this.keys.assertVirtualKey(principal, dto.virtual_key);
    const defaults = await this.workspaces.defaultMetadata(principal.organisationId, workspaceId);
    return {
      api_key,
      organisation_id: principal.organisationId,
      workspace_id: workspaceId ?? undefined,
      virtual_key: dto.virtual_key,
      provider,
      model: model === undefined ? undefined : canonicalModel(provider, model),
      modelAliases: model === undefined ? [] : modelAliases(provider, model),
      endpoint,
      mcp_server: dto.mcp_server,
      mcp_tool: dto.mcp_tool,
      metadata: { ...defaults, ...dto.metadata, ...enforced },
    };
  }
}

function isReadable({ workspaceId }: Principal, policy: CompiledPolicy | undefined): boolean {
  return workspaceId === null || policy?.workspaceId === workspaceId;
}

function readEstimate({ cost = 0, tokens, quantities }: UsageEstimateDto): Estimate {
  if (tokens !== undefined && quantities !== undefined) {
    throw invalidField('estimate.quantities', 'must not be given together with tokens');
  }
  const costNano = toUnits('cost', cost);
  if (costNano === undefined) throw invalidField('estimate.cost', `must ${precisionOf('cost')}`);
  return { cost: costNano, tokens: BigInt(tokens ?? 0) + tokensOf(fromQuantitiesJson(quantities ?? {})) };
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
  estimate: Estimate,
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
    decision: decide(used, reserved, estimate[unit], limit),
  };
}

/** Decides as the usage store does: a call without usage is admitted even if the limit is exceeded. */
function decide(used: bigint, reserved: bigint, amount: bigint, limit: bigint): Decision {
  if (amount === 0n) return 'admitted';
  if (used + amount > limit) return 'exceeded';
  return used + reserved + amount > limit ? 'contended' : 'admitted';
}

function overall(answers: readonly SimulatedPolicyResponse[]): Decision {
  const decisions = answers.filter(({ enforcement }) => enforcement === 'strict').map(({ decision }) => decision);
  if (decisions.includes('exceeded')) return 'exceeded';
  return decisions.includes('contended') ? 'contended' : 'admitted';
}
