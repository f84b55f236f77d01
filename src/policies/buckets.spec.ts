import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bucketOf } from './buckets.js';
import type { PolicyAttributes } from './policy-keys.js';

function facts(given: Partial<PolicyAttributes>): PolicyAttributes {
  return {
    api_key: 'key-1',
    organisation_id: 'org-1',
    workspace_id: undefined,
    virtual_key: undefined,
    provider: undefined,
    model: undefined,
    endpoint: undefined,
    mcp_server: undefined,
    model_requested: undefined,
    mcp_tool: undefined,
    metadata: {},
    ...given,
  };
}

describe('bucketOf', () => {
  it('depends on the policy and the grouped values', () => {
    const bucket = bucketOf(['metadata.user', 'api_key'], facts({ metadata: { user: 'alice' } }));
    expect(bucket.valueKey).toBe('api_key:key-1|metadata.user:alice');
    expect(bucket.hash).toMatch(/^[\w-]{22}$/);
  });

  it('does not depend on the order of the groups, nor on values that are not grouped', () => {
    const one = bucketOf(['metadata.user', 'api_key'], facts({ metadata: { user: 'alice', team: 'a' } }));
    const other = bucketOf(['api_key', 'metadata.user'], facts({ metadata: { user: 'alice' }, model: 'm' }));
    expect(one).toEqual(other);
  });

  it('gives calls without the value a bucket of their own, which no value can imitate', () => {
    const missing = bucketOf(['metadata.user'], facts({}));
    expect(missing.valueKey).toBe('metadata.user:(none)');
    for (const fake of ['(none)', 'null', '', 'undefined']) {
      expect(bucketOf(['metadata.user'], facts({ metadata: { user: fake } })).hash).not.toBe(missing.hash);
    }
  });

  it('distinguishes groups with the same text', () => {
    const one = bucketOf(['metadata.a', 'metadata.b'], facts({ metadata: { a: 'x|metadata.b:y', b: 'z' } }));
    const other = bucketOf(['metadata.a', 'metadata.b'], facts({ metadata: { a: 'x', b: 'y|metadata.b:z' } }));
    expect(one.hash).not.toBe(other.hash);
  });

  it('gives two different groups different buckets', () => {
    const value = fc.option(fc.string(), { nil: undefined });
    fc.assert(
      fc.property(value, value, value, value, (a1, b1, a2, b2) => {
        const hashOf = (model: string | undefined, provider: string | undefined) =>
          bucketOf(['model', 'provider'], facts({ model, provider })).hash;
        expect(hashOf(a1, b1) === hashOf(a2, b2)).toBe(a1 === a2 && b1 === b2);
      }),
    );
  });
});
