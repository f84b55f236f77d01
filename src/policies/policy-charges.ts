import type { Charge } from '../usage/usage-store.types.js';
import { windowAt } from '../usage/windows.js';
import { bucketOf } from './buckets.js';
import type { CompiledPolicy } from './compiled-policy.js';
import type { PolicyAttributes } from './policy-keys.js';

/** The policies that a call falls under. */
export function matchingPolicies<Policy extends Pick<CompiledPolicy, 'workspaceId' | 'matches'>>(
  policies: readonly Policy[],
  facts: PolicyAttributes,
): readonly Policy[] {
  return policies.filter(
    ({ workspaceId, matches }) => (workspaceId === null || workspaceId === facts.workspace_id) && matches(facts),
  );
}

/** The bucket of a policy that a call at this moment is charged to. */
export function chargeOf(policy: CompiledPolicy, facts: PolicyAttributes, at: Date): Charge {
  const bucket = bucketOf(policy.groupBy, facts);
  const window = windowAt(policy.periodicReset, at);
  return {
    policyId: policy.id,
    bucketHash: bucket.hash,
    windowId: window.id,
    valueKey: bucket.valueKey,
    workspaceId: policy.workspaceId,
    unit: policy.unit,
    limit: policy.limit,
    threshold: policy.threshold,
    enforced: policy.enforced,
    resetsAt: window.resetsAt,
  };
}
