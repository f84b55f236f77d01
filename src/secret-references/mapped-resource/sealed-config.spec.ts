import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { mask } from '../../common/mask.js';
import { readTargets, targetsAfter } from './mapped-targets.js';
import {
  assertSameHosts,
  type Fields,
  isOtherHost,
  mergeFields,
  NO_FIELDS,
  type SealedConfig,
} from './sealed-config.js';

const SECRET = 'a-secret-of-16-characters';
const STORED = fields({ url: 'https://a.example/x', token: SECRET, 'headers.X-One': 'one', limit: 1 });
const NOTHING_MAPPED = new Map<string, string>();

/** A resource with an address, a plain limit, a token that is sent to the address and one that is sent to another. */
const CONFIG: SealedConfig = {
  has: (field) => ['url', 'limit', 'token', 'other_token'].includes(field) || field.startsWith('headers.'),
  expected: 'must be a field of the sample',
  isSecret: (field) => field.endsWith('token') || field.startsWith('headers.'),
  hostFieldOf: (secret) => (secret === 'other_token' ? 'other_url' : 'url'),
  fold: (field) => field.toLowerCase(),
};

function fields(object: object): Fields {
  return new Map(Object.entries(object));
}

function paramsOf(work: () => unknown): readonly (string | null)[] {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error.details?.map(({ param }) => param) ?? [];
    throw error;
  }
  return [];
}

function merged(given: object, mapped = NOTHING_MAPPED): object {
  return Object.fromEntries(mergeFields(CONFIG, { stored: STORED, given: fields(given), mapped }).fields);
}

describe('mergeFields', () => {
  it('replaces the fields that are given and keeps the others', () => {
    expect(merged({ limit: 0, token: 'new' })).toEqual({ ...Object.fromEntries(STORED), limit: 0, token: 'new' });
  });

  it('removes a field that is set to null', () => {
    expect(merged({ token: null, 'headers.x-one': null })).toEqual({ url: 'https://a.example/x', limit: 1 });
  });

  it('keeps null for an unknown field, so that the rules of the resource refuse it', () => {
    expect(merged({ nope: null })).toMatchObject({ nope: null });
  });

  it('keeps false, zero and the empty text, which are values', () => {
    expect(merged({ a: false, limit: 0, c: '' })).toMatchObject({ a: false, limit: 0, c: '' });
  });

  it('treats another spelling of a name as the same field', () => {
    expect(merged({ 'headers.x-ONE': 'two' })).not.toHaveProperty(['headers.X-One']);
    expect(merged({ 'headers.x-ONE': 'two' })).toHaveProperty(['headers.x-ONE'], 'two');
  });

  it('keeps a secret whose mask comes back, under its stored name', () => {
    const { fields: after, kept } = mergeFields(CONFIG, {
      stored: STORED,
      given: fields({ token: mask(SECRET), 'headers.x-one': mask('one') }),
      mapped: NOTHING_MAPPED,
    });
    expect(after).toEqual(STORED);
    expect(kept).toContain('headers.X-One');
  });

  it('refuses masks of anything but the stored secret', () => {
    expect(paramsOf(() => merged({ token: '****0000', 'headers.X-Two': '****' }))).toEqual(['token', 'headers.X-Two']);
    expect(paramsOf(() => merged({ limit: '****' }))).toEqual([]);
  });

  it('drops the stored value of a mapped field', () => {
    expect(merged({}, new Map([['HEADERS.x-one', 'HEADERS.x-one']]))).not.toHaveProperty(['headers.X-One']);
  });
});

describe('assertSameHosts', () => {
  const moved = fields({ ...Object.fromEntries(STORED), url: 'https://b.example/x' });
  const check = (kept: string[], keptMappings: string[] = [], after = moved) =>
    paramsOf(() => assertSameHosts(CONFIG, { before: STORED, after, kept, keptMappings }));

  it('refuses to send kept secrets to another host', () => {
    expect(check(['token', 'limit', 'headers.X-One'])).toEqual(['token', 'headers.X-One']);
  });

  it('refuses to send mapped secrets to another host, and names the mappings once', () => {
    expect(check([], ['token', 'headers.X-Two'])).toEqual(['secret_mappings']);
  });

  it('allows another path on the same host', () => {
    expect(check(['token'], ['token'], fields({ url: 'https://A.example:443/y' }))).toEqual([]);
  });

  it('checks the address of each secret', () => {
    expect(check(['other_token'])).toEqual([]);
    expect(check(['other_token'], [], fields({ other_url: 'https://b.example' }))).toEqual(['other_token']);
  });
});

describe('readTargets', () => {
  const read = (targets: string[], given: Fields = NO_FIELDS) =>
    paramsOf(() =>
      readTargets(
        CONFIG,
        targets.map((target_field) => ({ target_field })),
        given,
      ),
    );

  it('refuses unknown fields, repeated fields and fields that are given as well', () => {
    expect(read(['token', 'nope', 'TOKEN'])).toEqual([
      'secret_mappings.1.target_field',
      'secret_mappings.2.target_field',
    ]);
    expect(read(['token'], fields({ token: 'x' }))).toEqual(['secret_mappings.0.target_field']);
    expect(read(['token'], fields({ token: null }))).toEqual([]);
  });
});

describe('targetsAfter', () => {
  const stored = [{ targetField: 'token' }];
  const after = (wanted: { target_field: string }[] | null | undefined, given: object) =>
    targetsAfter(CONFIG, stored, wanted, fields(given));

  it('keeps the stored mappings when the update has none', () => {
    expect([...after(undefined, { limit: 1 }).keys()]).toEqual(['token']);
    expect(paramsOf(() => after(undefined, { token: 'x' }))).toEqual(['token']);
  });

  it('replaces stored mappings by those of the update, and removes them with null', () => {
    expect([...after([{ target_field: 'url' }], { token: 'x' }).keys()]).toEqual(['url']);
    expect([...after(null, { token: 'x' }).keys()]).toEqual([]);
  });
});

describe('isOtherHost', () => {
  it.each([
    ['https://api.example.com/v1', 'https://API.example.com:443/v2?x=1', false],
    ['https://api.example.com', 'http://api.example.com', true],
    ['https://api.example.com', 'https://api.example.com:8443', true],
    ['https://api.example.com', 'https://api.example.com.attacker.example', true],
    ['https://api.example.com', 'https://api.example.com@attacker.example', true],
    ['https://api.example.com', undefined, true],
    [undefined, undefined, false],
    ['not a URL', 'not a URL', false],
    ['not a URL', 'another one', true],
  ])('compares the origins of %s and %s: %j', (before, after, isOther) => {
    expect(isOtherHost(before, after)).toBe(isOther);
  });
});
