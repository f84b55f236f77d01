import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock.js';
import { chargeOf, readableMatches } from '../../policies/compiled-policies.js';
import type { CompiledPolicy } from '../../policies/compiled-policy.js';
import { PolicyCache } from '../../policies/policy.cache.js';
import type { PolicyAttributes } from '../../policies/policy-keys.js';
import { UsageBucketStore } from '../../usage/usage-bucket.store.js';
import type { BucketState, Charge } from '../../usage/usage-store.types.js';

/** An enforced usage limit that applies to a call. */
export interface LimitState {
  readonly policy: CompiledPolicy;
  readonly charge: Charge;
  readonly bucket: BucketState;
}

const PARTS = 10_000;

/** Reads what is left of the usage limits of a call, without reserving. */
@Injectable()
export class LimitStates {
  constructor(
    private readonly policies: PolicyCache,
    private readonly buckets: UsageBucketStore,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError `usage_limit_unreadable` */
  async of(organisationId: string, facts: PolicyAttributes): Promise<readonly LimitState[]> {
    const now = this.clock.now();
    const matching = readableMatches(await this.policies.get(organisationId, now.getTime()), facts);
    const charged = matching
      .filter(({ enforced }) => enforced)
      .map((policy) => ({ policy, charge: chargeOf(policy, facts, now) }));
    if (charged.length === 0) return [];
    const found = await this.buckets.findAll(
      organisationId,
      charged.map(({ charge }) => charge),
    );
    return charged.map(({ policy, charge }) => {
      const { policyId, bucketHash, windowId, limit } = charge;
      const row = found.find((one) => one.policyId === policyId && one.windowId === windowId);
      const counted = { used: BigInt(row?.used ?? 0), reserved: BigInt(row?.reserved ?? 0) };
      return { policy, charge, bucket: { policyId, bucketHash, windowId, limit, ...counted } };
    });
  }

  /** Whether each limit of a call has at least this share left. @param share from 0 to 1, with four decimals */
  async haveLeft(organisationId: string, facts: PolicyAttributes, share: number): Promise<boolean> {
    const parts = BigInt(Math.round(share * PARTS));
    const states = await this.of(organisationId, facts);
    return states.every(
      ({ bucket: { limit, used, reserved } }) => (limit - used - reserved) * BigInt(PARTS) >= limit * parts,
    );
  }
}
