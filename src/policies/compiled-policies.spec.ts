import { describe, expect, it } from '@jest/globals';
import { compilePolicies, readableMatches, matchingPolicies } from './compiled-policies.js';
import type { PolicyAttributes } from './policy-keys.js';
import { UsagePolicy } from './usage-policy.entity.js';

const FACTS: PolicyAttributes = {
  api_key: 'key-1',
  organisation_id: 'org-1',
  workspace_id: 'ws-1',
  virtual_key: 'cohere',
  provider: 'cohere',
  model: 'rerank-v3.5',
  endpoint: 'rerank',
  mcp_server: undefined,
  model_requested: undefined,
  mcp_tool: undefined,
  metadata: {},
};
const VALID = {
  id: 'policy-1',
  workspaceId: null,
  name: null,
  conditions: [{ key: 'provider', value: 'cohere' }],
  groupBy: ['api_key'],
  type: 'cost',
  creditLimit: '10',
  alertThreshold: null,
  periodicReset: 'monthly',
  enforcement: 'strict',
  unbounded: 'refuse',
};

function row(fields: object = {}): UsagePolicy {
  return Object.assign(new UsagePolicy(), VALID, fields);
}

/** Ids of the policies that may apply to a call, by whether they can be read. */
function idsFor(facts: Partial<PolicyAttributes>, ...rows: UsagePolicy[]): Record<'readable' | 'unreadable', unknown> {
  const { readable, unreadable } = compilePolicies(rows);
  const all = { ...FACTS, ...facts };
  return {
    readable: matchingPolicies(readable, all).map(({ id }) => id),
    unreadable: matchingPolicies(unreadable, all).map(({ id }) => id),
  };
}

describe('compilePolicies', () => {
  const good = row({ id: 'good' });

  it('compiles policies that the API wrote', () => {
    const rows = [good, row({ periodicReset: null, alertThreshold: '5', enforcement: 'monitor', type: 'tokens' })];
    expect(idsFor({}, ...rows)).toEqual({ readable: ['good', 'policy-1'], unreadable: [] });
  });

  it.each([
    ['a limit that is not a number', { creditLimit: 'NaN' }],
    ['a limit that is too precise', { creditLimit: '0.0000000001' }],
    ['a threshold that is not a number', { alertThreshold: 'Infinity' }],
    ['another type', { type: 'requests' }],
    ['another period', { periodicReset: 'daily' }],
    ['another enforcement', { enforcement: 'throttle' }],
    ['another group', { groupBy: ['prompt'] }],
    ['no groups', { groupBy: null }],
  ])('refuses only the calls that a policy with %s applies to', (_what, fields) => {
    const bad = row({ id: 'bad', ...fields });
    expect(idsFor({}, bad, good)).toEqual({ readable: ['good'], unreadable: ['bad'] });
    expect(idsFor({ provider: 'jina' }, bad, good)).toEqual({ readable: [], unreadable: [] });
  });

  it.each([
    ['another key', { key: 'prompt', value: 'x' }],
    ['a value that is not a string', { key: 'model', value: 7 }],
    ['an exclusion that is not a string', { key: 'model', value: '*', excludes: [null] }],
    ['another member', { key: 'model', value: 'rerank-*', op: 'ne' }],
    ['no condition', null],
  ])('treats an unreadable condition (%s) as met and checks the others', (_what, condition) => {
    const bad = row({ id: 'bad', conditions: [...VALID.conditions, condition] });
    expect(idsFor({}, bad, good)).toEqual({ readable: ['good'], unreadable: ['bad'] });
    expect(idsFor({ provider: 'jina' }, bad)).toEqual({ readable: [], unreadable: [] });
  });

  it('applies an unreadable policy only to its workspace', () => {
    const bad = row({ id: 'bad', conditions: 'none', workspaceId: 'ws-2' });
    expect(idsFor({}, bad)).toEqual({ readable: [], unreadable: [] });
    expect(idsFor({ workspace_id: 'ws-2' }, bad)).toEqual({ readable: [], unreadable: ['bad'] });
  });

  it('refuses no call for an unreadable monitoring policy, but reports it', () => {
    const bad = row({ id: 'bad', enforcement: 'monitor', creditLimit: 'NaN' });
    expect(idsFor({}, bad, good)).toEqual({ readable: ['good'], unreadable: [] });
    expect(compilePolicies([bad]).unreadable).toHaveLength(1);
  });
});

describe('readableMatches', () => {
  const compiled = compilePolicies([row({ id: 'good' }), row({ id: 'bad', type: 'requests' })]);

  it('refuses a call whose cap cannot be read', () => {
    expect(() => readableMatches(compiled, FACTS)).toThrow(
      expect.objectContaining({
        code: 'usage_limit_unreadable',
        headers: expect.objectContaining({ 'x-gateway-limit-policy': 'bad' }),
      }),
    );
  });

  it('admits calls that an unreadable cap does not apply to', () => {
    expect(readableMatches(compiled, { ...FACTS, provider: 'jina' })).toEqual([]);
    const { readable } = compiled;
    expect(readableMatches({ readable, unreadable: [] }, FACTS).map(({ id }) => id)).toEqual(['good']);
  });
});
