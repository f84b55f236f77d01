import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock.js';
import { chargeOf, readableMatches } from '../policies/compiled-policies.js';
import { PolicyCache } from '../policies/policy.cache.js';
import { UsageBucketStore } from '../usage/usage-bucket.store.js';
import type { BucketState } from '../usage/usage-store.types.js';
import { refusalOf } from './limit-refusal.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { factsOf, type NamedUse } from './usage-meter.js';

/** Usage limits of calls that are not metered: their cost arises later, at the provider. */
@Injectable()
export class UsedUpLimits {
  constructor(
    private readonly policies: PolicyCache,
    private readonly buckets: UsageBucketStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Nothing is reserved: a limit that has room left lets the call start, whatever it will cost.
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_unreadable`
   */
  async assertRoom(context: ProviderContext, use: NamedUse): Promise<void> {
    const now = this.clock.now();
    const { organisationId } = context.principal;
    const facts = factsOf(context, use);
    const matching = readableMatches(await this.policies.get(organisationId, now.getTime()), facts);
    const policies = matching.filter(({ enforced }) => enforced);
    if (policies.length === 0) return;
    const charges = policies.map((policy) => chargeOf(policy, facts, now));
    const buckets = await this.buckets.findAll(organisationId, charges);
    const failing: BucketState[] = [];
    for (const { policyId, bucketHash, windowId, limit } of charges) {
      const bucket = buckets.find((found) => found.policyId === policyId && found.windowId === windowId);
      const used = BigInt(bucket?.used ?? 0);
      if (used < limit) continue;
      failing.push({ policyId, bucketHash, windowId, limit, used, reserved: BigInt(bucket?.reserved ?? 0) });
    }
    if (failing.length === 0) return;
    context.request.facts.limit_decision = 'exceeded';
    throw refusalOf({ kind: 'exceeded', failing }, charges, policies);
  }
}
