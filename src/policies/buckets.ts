import { hash } from 'node:crypto';
import { factOf, type PolicyAttributes, type PolicyKey } from './policy-keys.js';

/** Characters of base64url: 132 bits, so that no two groups ever share a bucket. */
const HASH_LENGTH = 22;
const MAX_SHOWN_VALUE = 128;
/** Shown for a call that lacks a grouped value; the hash tells it from a value that reads the same. */
const NONE = '(none)';

export interface Bucket {
  readonly hash: string;
  /** For people: `api_key:<id>|metadata.user:alice`. */
  readonly valueKey: string;
}

/**
 * The bucket of a policy that a call is counted in. A call without a grouped value has its own bucket, and does not get
 * around the cap.
 */
export function bucketOf(groupBy: readonly PolicyKey[], facts: PolicyAttributes): Bucket {
  const pairs = groupBy.toSorted().map((key) => [key, factOf(facts, key) ?? null] as const);
  return {
    hash: hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, HASH_LENGTH),
    valueKey: pairs.map(([key, value]) => `${key}:${value?.slice(0, MAX_SHOWN_VALUE) ?? NONE}`).join('|'),
  };
}
