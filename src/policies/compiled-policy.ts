import { UNITS, type UsageUnit } from '../common/money/units.js';
import type { WindowKind } from '../usage/windows.js';
import { compileConditions, type Matches } from './conditions.js';
import { toUnits } from './limits.js';
import { isPolicyKey, type PolicyKey } from './policy-keys.js';
import { isKnownPeriod } from './periods.js';
import { ENFORCEMENTS, UNBOUNDED_CALLS, type UsagePolicy } from './usage-policy.entity.js';

/** A policy that is prepared for matching. */
export interface CompiledPolicy {
  readonly id: string;
  readonly name: string | null;
  /** null: for every workspace. */
  readonly workspaceId: string | null;
  readonly unit: UsageUnit;
  readonly groupBy: readonly PolicyKey[];
  readonly periodicReset: WindowKind;
  readonly limit: bigint;
  readonly threshold: bigint | undefined;
  readonly enforced: boolean;
  /** Lets calls pass that have no bound. */
  readonly allowsUnbounded: boolean;
  readonly matches: Matches;
  /** Whether a call can match whose model is not known yet. */
  readonly mayMatch: Matches;
}

/** @throws Error when the row has content of another version, or content that was not written by the API */
export function compilePolicy(policy: UsagePolicy): CompiledPolicy {
  const { id, name, workspaceId, type, groupBy, periodicReset, alertThreshold, enforcement, unbounded } = policy;
  assertKnown(policy, 'type', UNITS.includes(type));
  assertKnown(policy, 'group_by', Array.isArray(groupBy) && groupBy.every(isPolicyKey));
  assertKnown(policy, 'periodic_reset', isKnownPeriod(periodicReset));
  assertKnown(policy, 'enforcement', ENFORCEMENTS.includes(enforcement));
  assertKnown(policy, 'unbounded', UNBOUNDED_CALLS.includes(unbounded));
  return {
    id,
    name,
    workspaceId,
    unit: type,
    groupBy,
    periodicReset,
    limit: unitsOf(policy, policy.creditLimit),
    threshold: alertThreshold === null ? undefined : unitsOf(policy, alertThreshold),
    enforced: enforcement === 'strict',
    allowsUnbounded: unbounded === 'allow',
    matches: compileConditions(policy.conditions),
    mayMatch: compileConditions(policy.conditions.filter(({ key }) => key !== 'model')),
  };
}

function assertKnown({ id }: UsagePolicy, field: string, isKnown: boolean): void {
  if (!isKnown) throw new Error(`policy ${id} has a ${field} that is not known`);
}

function unitsOf({ id, type }: UsagePolicy, amount: string): bigint {
  const units = toUnits(type, Number(amount));
  if (units === undefined) throw new Error(`policy ${id} has an amount that cannot be counted`);
  return units;
}
