import type { UsageUnit } from '../common/money/units.js';
import { compileConditions, type Matches } from './conditions.js';
import { toUnits } from './limits.js';
import type { PolicyKey } from './policy-keys.js';
import type { PeriodicReset, UsagePolicy } from './usage-policy.entity.js';

/** A policy made ready for matching, once. */
export interface CompiledPolicy {
  readonly id: string;
  readonly name: string | null;
  /** null: for every workspace. */
  readonly workspaceId: string | null;
  readonly unit: UsageUnit;
  readonly groupBy: readonly PolicyKey[];
  readonly periodicReset: PeriodicReset | null;
  readonly limit: bigint;
  readonly threshold: bigint | undefined;
  readonly enforced: boolean;
  readonly matches: Matches;
}

export function compilePolicy(policy: UsagePolicy): CompiledPolicy {
  const { id, name, workspaceId, type, groupBy, periodicReset, alertThreshold } = policy;
  return {
    id,
    name,
    workspaceId,
    unit: type,
    groupBy,
    periodicReset,
    limit: unitsOf(policy, policy.creditLimit),
    threshold: alertThreshold === null ? undefined : unitsOf(policy, alertThreshold),
    enforced: policy.enforcement === 'strict',
    matches: compileConditions(policy.conditions),
  };
}

function unitsOf({ id, type }: UsagePolicy, amount: string): bigint {
  const units = toUnits(type, Number(amount));
  if (units === undefined) throw new Error(`policy ${id} has an amount that cannot be counted`);
  return units;
}
