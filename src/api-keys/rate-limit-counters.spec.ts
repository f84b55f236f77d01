import { describe, expect, it } from '@jest/globals';
import type { RateLimit } from '../access/principal.js';
import { counterOf, joinCounters, keepCounters, limitProblems, shownLimits } from './rate-limit-counters.js';

const ORGANISATION = '0b0c1f6e-0000-4000-8000-000000000001';
const WORKSPACE = '0b0c1f6e-0000-4000-8000-000000000002';
const LIMIT: RateLimit = { type: 'requests', unit: 'rpm', value: 3 };
const PER_USER: RateLimit = { ...LIMIT, per: 'user' };
const PER_WORKSPACE: RateLimit = { ...LIMIT, per: 'workspace' };
const KEY = { id: 'key-1', organisationId: ORGANISATION, workspaceId: WORKSPACE, user: { user_id: 'ada@example.com' } };

describe('counterOf', () => {
  it('counts by key, by user of an organisation, and by workspace', () => {
    expect(counterOf(KEY, LIMIT)).toBe('key-1');
    expect(counterOf(KEY, { ...LIMIT, per: 'key' })).toBe('key-1');
    expect(counterOf(KEY, PER_WORKSPACE)).toBe(`workspace:${WORKSPACE}`);
    expect(counterOf({ ...KEY, id: 'key-2' }, PER_USER)).toBe(counterOf(KEY, PER_USER));
    expect(counterOf({ ...KEY, organisationId: 'other' }, PER_USER)).not.toBe(counterOf(KEY, PER_USER));
    expect(counterOf({ ...KEY, user: { user_id: 'bob' } }, PER_USER)).not.toBe(counterOf(KEY, PER_USER));
  });

  it('has no id of a user in the name of a counter', () => {
    expect(counterOf(KEY, PER_USER)).toMatch(/^user:[\w-]{43}$/);
  });
});

describe('joinCounters', () => {
  const maker = { ...KEY, rateLimits: [LIMIT, PER_USER] };

  it('counts limits that the maker has as well in its counters, and others in those of the key', () => {
    const other: RateLimit = { ...LIMIT, unit: 'rpd' };
    const joined = joinCounters(maker, [LIMIT, { ...PER_USER, value: 1 }, PER_WORKSPACE, other]);
    expect(joined).toEqual([
      { ...LIMIT, counter: 'key-1' },
      { ...PER_USER, value: 1, counter: counterOf(KEY, PER_USER) },
      PER_WORKSPACE,
      other,
    ]);
  });

  it('passes the counter on to keys of keys', () => {
    const child = { ...KEY, id: 'key-2', rateLimits: joinCounters(maker, [LIMIT]) };
    expect(joinCounters(child, [LIMIT])).toEqual([{ ...LIMIT, counter: 'key-1' }]);
  });
});

it('keepCounters leaves a changed limit in its counter', () => {
  const before = [{ ...LIMIT, counter: 'key-1' }];
  expect(keepCounters(before, [{ ...LIMIT, value: 2 }, PER_USER])).toEqual([
    { ...LIMIT, value: 2, counter: 'key-1' },
    PER_USER,
  ]);
});

it('shownLimits hides counters', () => {
  expect(shownLimits([{ ...LIMIT, counter: 'key-1' }, PER_USER])).toEqual([LIMIT, PER_USER]);
});

it.each([
  [PER_USER, { user: null, workspaceId: WORKSPACE }, ['rate_limits.0.per']],
  [PER_WORKSPACE, { user: KEY.user, workspaceId: null }, ['rate_limits.0.per']],
  [PER_USER, { user: KEY.user, workspaceId: null }, []],
  [PER_WORKSPACE, { user: null, workspaceId: WORKSPACE }, []],
  [LIMIT, { user: null, workspaceId: null }, []],
])('limitProblems: the limit %j of the key %j has the problems %j', (limit, key, params) => {
  expect(limitProblems([limit], key).map(({ param }) => param)).toEqual(params);
});
