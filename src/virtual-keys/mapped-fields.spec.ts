import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { cohere } from '../upstream/providers/cohere.provider.js';
import { local } from '../upstream/providers/local.provider.js';
import { openai } from '../upstream/providers/openai.provider.js';
import { assertAddressIsOurs, keepTargets, merge, readTargets, withoutMapped } from './mapped-fields.js';

const NOTHING = { key: undefined, config: {} };
const mapping = (targetField: string) => ({
  targetField,
  secretReferenceId: 'r',
  secretKey: null,
  valueFormat: 'string' as const,
});

function paramsOf(work: () => unknown): readonly (string | null)[] {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error.details?.map(({ param }) => param) ?? [];
    throw error;
  }
  return [];
}

describe('the fields that a request maps', () => {
  it.each([
    [cohere, ['key', 'config.base_url', 'config.timeout_ms']],
    [openai, ['key', 'config.organization', 'config.project', 'config.isolation']],
    [local, []],
  ])('are those of the provider', (provider, fields) => {
    const targets = fields.map((target_field) => ({ target_field }));
    expect([...readTargets(provider, targets, NOTHING)]).toEqual(fields);
  });

  it.each([
    [cohere, 'config.organization'],
    [cohere, 'config.key'],
    [cohere, 'config.constructor'],
    [cohere, 'config.__proto__'],
    [cohere, 'base_url'],
    [cohere, 'config.config.base_url'],
    [cohere, 'KEY'],
    [local, 'key'],
    [local, 'config.base_url'],
  ])('are refused by name otherwise', (provider, target_field) => {
    const targets = [{ target_field }, { target_field }];
    expect(paramsOf(() => readTargets(provider, targets, NOTHING))).toEqual([
      'secret_mappings.0.target_field',
      'secret_mappings.1.target_field',
    ]);
  });

  it('must not be given as well; null gives nothing', () => {
    const targets = [{ target_field: 'key' }, { target_field: 'config.timeout_ms' }];
    const given = { key: 'sk', config: { timeout_ms: 1 } };
    expect(paramsOf(() => readTargets(cohere, targets, given))).toHaveLength(2);
    expect(paramsOf(() => readTargets(cohere, targets, { key: undefined, config: { timeout_ms: null } }))).toEqual([]);
  });

  it('must not be given later either', () => {
    const stored = [mapping('key'), mapping('config.timeout_ms')];
    expect(paramsOf(() => keepTargets(stored, { key: 'sk', config: {} }))).toEqual(['key']);
    expect(paramsOf(() => keepTargets(stored, { key: undefined, config: { timeout_ms: 1 } }))).toEqual([
      'config.timeout_ms',
    ]);
    expect([...keepTargets(stored, { key: undefined, config: { base_url: 'x' } })]).toEqual([
      'key',
      'config.timeout_ms',
    ]);
  });
});

describe('a mapped address', () => {
  const mapped = new Set(['config.base_url']);

  it('needs that no secret is stored', () => {
    expect(paramsOf(() => assertAddressIsOurs(mapped, undefined, {}))).toEqual([]);
    expect(paramsOf(() => assertAddressIsOurs(mapped, 'sk', {}))).toEqual(['key']);
    expect(paramsOf(() => assertAddressIsOurs(mapped, undefined, { secret: 'x' }))).toEqual(['config.secret']);
    expect(paramsOf(() => assertAddressIsOurs(new Set(['key']), undefined, { secret: 'x' }))).toEqual([]);
  });
});

describe('values', () => {
  it('are laid over what is stored', () => {
    const values = new Map<string, unknown>([
      ['key', 'sk'],
      ['config.timeout_ms', 5],
    ]);
    expect(merge({ key: 'old', config: { timeout_ms: 1, base_url: 'x' } }, values)).toEqual({
      key: 'sk',
      config: { timeout_ms: 5, base_url: 'x' },
    });
    expect(merge({ key: 'old', config: {} }, new Map())).toEqual({ key: 'old', config: {} });
  });

  it.each(['', null, undefined, 1, {}, 'x'.repeat(8193)])('of the key must be a text: %j', (value) => {
    expect(paramsOf(() => merge(NOTHING, new Map([['key', value]])))).toEqual(['key']);
  });

  it('that are stored for mapped fields go', () => {
    expect(withoutMapped({ a: 1, b: 2 }, new Set(['config.a', 'key']))).toEqual({ b: 2 });
    expect(withoutMapped({ a: 1 }, new Set())).toEqual({ a: 1 });
  });
});
