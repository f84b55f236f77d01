import { hash } from 'node:crypto';
import { factOf, type PolicyAttributes, type PolicyKey } from './policy-keys.js';

/** 22 characters of base64url: 132 bits, so that no two groups share a bucket. */
const HASH_LENGTH = 22;
const MAX_SHOWN_VALUE = 128;
/** Shown for a call without a grouped value. The hash distinguishes it from an equal text. */
const NONE = '(none)';

export interface Bucket {
  readonly hash: string;
  /** For people: `api_key:<id>|metadata.user:alice`. */
  readonly valueKey: string;
}

/**
 * The bucket of a policy that counts a call. Calls without a grouped value share a bucket of their own, so that they
 * cannot evade the cap.
 */
export function bucketOf(groupBy: readonly PolicyKey[], facts: PolicyAttributes): Bucket {
  const pairs = groupBy.toSorted().map((key) => [key, factOf(facts, key) ?? null] as const);
  return {
    hash: hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, HASH_LENGTH),
    valueKey: pairs.map(([key, value]) => `${key}:${value?.slice(0, MAX_SHOWN_VALUE) ?? NONE}`).join('|'),
  };
}
