import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type ConfigFacts, targetsOfConfig } from './portkey-config.js';

const FACTS: ConfigFacts = { metadata: { tier: 'gold', age: '30' }, model: 'gpt' };
const ONE = { virtual_key: 'one', name: 'first' };
const TWO = { provider: '@two', name: 'second', override_params: { model: 'mini' } };

function targets(config: unknown, facts = FACTS): ReturnType<typeof targetsOfConfig> {
  return targetsOfConfig(JSON.stringify(config), facts);
}

function slugs(config: unknown, facts = FACTS): readonly string[] {
  return targets(config, facts).map(({ virtualKey }) => virtualKey);
}

/** What a refusal names; undefined: there is none. */
function paramOf(config: unknown): unknown {
  try {
    targets(config);
    return undefined;
  } catch (error) {
    return error instanceof GatewayError ? error.param : error;
  }
}

function condition(query: unknown, target: string): unknown {
  return JSON.parse(`{"query":${JSON.stringify(query)},"then":"${target}"}`);
}

describe('a config', () => {
  it('can be one target', () => {
    expect(targets({ virtual_key: 'one', override_params: { model: 'mini' } })).toMatchObject([
      { virtualKey: 'one', model: 'mini', order: 0 },
    ]);
  });

  it('gives its model to the targets that set none', () => {
    expect(
      targets({ override_params: { model: 'big' }, strategy: { mode: 'fallback' }, targets: [ONE, TWO] }),
    ).toMatchObject([
      { virtualKey: 'one', model: 'big' },
      { virtualKey: 'two', model: 'mini' },
    ]);
  });

  it('names no target where it only asks for retries or a cache', () => {
    expect(targets({ retry: { attempts: 3 }, cache: { mode: 'simple' } })).toEqual([]);
  });

  it('can be a single target of a list', () => {
    expect(slugs({ strategy: { mode: 'single' }, targets: [ONE, TWO] })).toEqual(['one']);
    expect(slugs({ targets: [TWO] })).toEqual(['two']);
  });

  it('falls back in the order of its list', () => {
    const config = { strategy: { mode: 'fallback', on_status_codes: [429] }, targets: [ONE, TWO] };
    expect(targets(config)).toMatchObject([
      { virtualKey: 'one', model: undefined, order: 0 },
      { virtualKey: 'two', model: 'mini', order: 1 },
    ]);
  });

  it('balances by weights, and leaves a target of weight 0 out', () => {
    const weighted = [{ ...ONE, weight: 0.7 }, TWO, { virtual_key: 'three', weight: 0 }];
    expect(targets({ strategy: { mode: 'loadbalance' }, targets: weighted })).toMatchObject([
      { virtualKey: 'one', order: 0, weight: 0.7 },
      { virtualKey: 'two', order: 0, weight: 1 },
    ]);
  });
});

describe('conditions of a config', () => {
  function choice(query: object): readonly string[] {
    const strategy = { mode: 'conditional', conditions: [condition(query, 'second')], default: 'first' };
    return slugs({ strategy, targets: [ONE, TWO] });
  }

  it.each<object>([
    { 'metadata.tier': 'gold' },
    { 'metadata.tier': { $eq: 'gold' }, 'params.model': { $ne: 'other' } },
    { 'metadata.tier': { $in: ['silver', 'gold'] } },
    { 'metadata.none': { $nin: ['x'] } },
    { 'metadata.age': { $gte: 30, $lt: 31 } },
    { $or: [{ 'metadata.tier': 'silver' }, { $and: [{ 'metadata.age': 30 }, { 'params.model': 'gpt' }] }] },
  ])('hold for %j', (query) => {
    expect(choice(query)).toEqual(['two']);
  });

  it.each<object>([
    { 'metadata.tier': 'silver' },
    { 'metadata.none': { $gt: 1 } },
    { 'metadata.age': { $gt: 30 } },
    { 'metadata.constructor': { $eq: 'x' } },
    { $and: [{ 'metadata.tier': 'gold' }, { 'params.model': 'other' }] },
  ])('do not hold for %j', (query) => {
    expect(choice(query)).toEqual(['one']);
  });
});

describe('a config is refused', () => {
  const conditional = (query: unknown): object => ({
    strategy: { mode: 'conditional', conditions: [condition(query, 'first')], default: 'first' },
    targets: [ONE],
  });
  const nested = (depth: number): object => (depth === 0 ? { 'metadata.a': 1 } : { $and: [nested(depth - 1)] });

  it.each<[string, unknown]>([
    ['', 'pc-stored-1'],
    ['', []],
    ['.api_key', { api_key: 'secret', provider: 'openai' }],
    ['.targets.0.custom_host', { targets: [{ ...ONE, custom_host: 'http://10.0.0.1' }] }],
    ['.targets.0.strategy', { targets: [{ strategy: { mode: 'single' }, targets: [ONE] }] }],
    ['.targets.0.virtual_key', { targets: [{ provider: 'openai' }] }],
    ['.targets.0.override_params', { targets: [{ ...ONE, override_params: { max_tokens: 1 } }] }],
    ['.targets.0.weight', { strategy: { mode: 'loadbalance' }, targets: [{ ...ONE, weight: -1 }] }],
    ['.override_params', { override_params: { model: 'other' } }],
    ['.override_params', { retry: { attempts: 1 }, override_params: { temperature: 0 } }],
    ['.request_timeout', { request_timeout: 1_000 }],
    ['.strategy', { strategy: { mode: 'fallback' } }],
    ['.targets', { targets: [] }],
    ['.targets', { strategy: { mode: 'loadbalance' }, targets: [{ ...ONE, weight: 0 }] }],
    ['.targets', { targets: Array.from({ length: 17 }, () => ONE) }],
    ['.strategy.mode', { strategy: { mode: 'random' }, targets: [ONE] }],
    [
      '.strategy.default',
      {
        strategy: { mode: 'conditional', conditions: [condition({ 'metadata.x': 1 }, 'first')] },
        targets: [ONE],
      },
    ],
    ['.strategy.conditions.0.query.metadata.a', conditional({ 'metadata.a': { $regex: '(a+)+$' } })],
    ['.strategy.conditions.0.query.headers.a', conditional({ 'headers.a': 'x' })],
    ['.strategy.conditions.0.query.$and.$and.$and.$and.$and', conditional(nested(8))],
  ])('at %s', (path, config) => {
    expect(paramOf(config)).toBe(`x-portkey-config${path}`);
  });
});
