import { compileConditions, type Condition, type Matches } from '../policies/conditions.js';
import { isPolicyKey, type PolicyAttributes, type PolicyKey } from '../policies/policy-keys.js';
import { isMetadataKey } from '../usage/metadata-key.js';
import type { ModelTarget } from './model-route.entity.js';
import { healthKeyOf } from './target-health.js';

/** A call before it has a target; each fact is asked only where a route needs it. */
export interface RoutedCall {
  /** What calls that should go to the same target have in common; undefined: they may go to any. */
  readonly affinity: () => string | undefined;
  /** The response that it continues, by the id of its provider. */
  readonly previousResponse: () => string | undefined;
  /** The stored response that it is about, by the id of its provider. */
  readonly storedResponse: () => string | undefined;
  readonly attributes: () => PolicyAttributes;
  /** A quarter of the bytes of its body. */
  readonly estimatedTokens: () => number;
}

/** A target whose conditions are compiled. */
export interface KnownTarget extends ModelTarget {
  /** Of `TargetHealth`. */
  readonly healthKey: string;
  /** undefined: it takes every call. */
  readonly accepts?: (call: RoutedCall) => boolean;
}

/** Keys of a call that are known before it has a target, besides `metadata.<name>`. */
const EARLY_KEYS: ReadonlySet<PolicyKey> = new Set(['api_key', 'workspace_id']);
export const TARGET_KEYS_TEXT = `${[...EARLY_KEYS].join(', ')} or metadata.<name>`;

export function isTargetKey(key: unknown): boolean {
  return isPolicyKey(key) && (EARLY_KEYS.has(key) || isMetadataKey(key));
}

/** A target whose conditions cannot be read takes no call. */
export function compileTarget(target: ModelTarget): KnownTarget {
  const { conditions = [], minEstimatedTokens = 0, maxEstimatedTokens = Infinity } = target;
  const isSized = minEstimatedTokens > 0 || maxEstimatedTokens < Infinity;
  const healthKey = healthKeyOf(target);
  if (conditions.length === 0 && !isSized) return { ...target, healthKey };
  const matches = compiled(conditions);
  const accepts = (call: RoutedCall): boolean => {
    if (isSized) {
      const tokens = call.estimatedTokens();
      if (tokens < minEstimatedTokens || tokens > maxEstimatedTokens) return false;
    }
    return conditions.length === 0 || matches(call.attributes());
  };
  return { ...target, healthKey, accepts };
}

function compiled(conditions: readonly Condition[]): Matches {
  try {
    return compileConditions(conditions);
  } catch {
    return () => false;
  }
}
