import { DO_NOT_RETRY, GatewayError } from '../common/errors/gateway.error.js';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.js';
import { compileReadable } from './conditions.js';
import type { PolicyAttributes } from './policy-keys.js';
import type { UsagePolicy } from './usage-policy.entity.js';
import type { Charge } from '../usage/usage-store.types.js';
import { windowAt } from '../usage/windows.js';
import { bucketOf } from './buckets.js';

/** An active policy that this version cannot read, so its effect is unknown. */
export type UnreadablePolicy = Pick<CompiledPolicy, 'id' | 'workspaceId' | 'matches'> & { readonly cause: unknown };

export interface CompiledPolicies {
  readonly readable: readonly CompiledPolicy[];
  /** Match every call that the policy may apply to. Monitoring policies match no call. */
  readonly unreadable: readonly UnreadablePolicy[];
}

/** Compiles each policy separately: one that cannot be read must not stop calls that it does not apply to. */
export function compilePolicies(policies: readonly UsagePolicy[]): CompiledPolicies {
  const readable: CompiledPolicy[] = [];
  const unreadable: UnreadablePolicy[] = [];
  for (const policy of policies) {
    try {
      readable.push(compilePolicy(policy));
    } catch (cause) {
      const { id, workspaceId, conditions, enforcement } = policy;
      unreadable.push({
        id,
        workspaceId,
        matches: enforcement === 'monitor' ? never : compileReadable(conditions),
        cause,
      });
    }
  }
  return { readable, unreadable };
}

/**
 * The policies that apply to a call.
 * @throws GatewayError `usage_limit_unreadable`: a cap that cannot be read is not ignored
 */
export function readableMatches(
  { readable, unreadable }: CompiledPolicies,
  facts: PolicyAttributes,
): readonly CompiledPolicy[] {
  const [obstacle] = matchingPolicies(unreadable, facts);
  if (obstacle !== undefined) throw unreadablePolicy(obstacle);
  return matchingPolicies(readable, facts);
}

/**
 * Whether a call may fall under a policy, whatever its model is. One that cannot be read counts.
 */
export function mayBeLimited({ readable, unreadable }: CompiledPolicies, facts: PolicyAttributes): boolean {
  return unreadable.length > 0 || readable.some((policy) => mayApply(policy, facts));
}

/** Whether a policy applies to a call, whatever its model is. */
export function mayApply({ workspaceId, mayMatch }: CompiledPolicy, facts: PolicyAttributes): boolean {
  return (workspaceId === null || workspaceId === facts.workspace_id) && mayMatch(facts);
}

export function isReadable(policy: UsagePolicy): boolean {
  return compilePolicies([policy]).readable.length === 1;
}

/** @throws GatewayError `usage_limit_unreadable` */
export function readPolicy(policy: UsagePolicy): CompiledPolicy {
  try {
    return compilePolicy(policy);
  } catch (cause) {
    throw unreadablePolicy({ id: policy.id, cause });
  }
}

function unreadablePolicy({ id, cause }: Pick<UnreadablePolicy, 'id' | 'cause'>): GatewayError {
  return new GatewayError('usage_limit_unreadable', {
    headers: { 'x-gateway-limit-policy': id, ...DO_NOT_RETRY },
    reason: `policy ${id} cannot be read`,
    cause,
  });
}

function never(): boolean {
  return false;
}

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
