import { describe, expect, it } from '@jest/globals';
import { parseWithNumbersAsText } from '../../src/common/json/numbers.js';
import { formatDecimal } from '../../src/common/money/decimal.js';
import { PRICE_DECIMALS } from '../../src/usage/prices/price.types.js';
import { listedModel, modelsDevList } from './__fixtures__/lists.js';
import { readModelsDev } from './models-dev.js';
import type { SourceModel } from './source.types.js';

function read(entry: unknown, id = 'm-1'): SourceModel | undefined {
  return readModelsDev(modelsDevList({ [id]: entry }), 'maker').find(id.toUpperCase());
}

function pricesOf(cost: unknown, more?: object): readonly string[] | undefined {
  return read(listedModel(cost, more))?.prices.map(({ unit, mode, minInputTokens, price }) =>
    [unit, mode, minInputTokens, formatDecimal(price, PRICE_DECIMALS)].join(' '),
  );
}

describe('readModelsDev', () => {
  it('reads prices of a million tokens by unit, exactly', () => {
    const cost = {
      input: 0.15,
      output: 0.6,
      cache_read: 0.003625,
      cache_write: 3e-7,
      input_audio: 40,
      output_audio: 80,
    };
    expect(pricesOf(cost)).toEqual([
      'input standard 0 0.00000015',
      'output standard 0 0.0000006',
      'cache_read standard 0 0.000000003625',
      'cache_write_5m standard 0 0.0000000000003',
      'input_audio standard 0 0.00004',
      'output_audio standard 0 0.00008',
    ]);
  });

  it('keeps digits that a float would lose', () => {
    const text =
      '{"maker":{"models":{"m":{"limit":{"context":10,"output":1},"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1234567.000000000001}}}}}';
    const found = readModelsDev(parseWithNumbersAsText(text), 'maker').find('m');
    expect(found?.prices[0]?.price).toBe(1_234_567_000_000_000_001n);
  });

  it('reads tiers, and the mode of a tier of the service', () => {
    const fast = { cost: { input: 9 }, provider: { body: { service_tier: 'priority' } } };
    const cost = {
      input: 1,
      tiers: [{ tier: { type: 'context', size: 200000 }, input: 2 }],
      context_over_200k: { input: 2 },
    };
    const other = { cost: { input: 8 }, provider: { body: { speed: 'fast' } } };
    expect(pricesOf(cost, { experimental: { modes: { fast, other } } })).toEqual([
      'input standard 0 0.000001',
      'input standard 200000 0.000002',
      'input priority 0 0.000009',
      'input fast 0 0.000008',
    ]);
  });

  it('has no price where the list has 0', () => expect(pricesOf({ input: 1, output: 0 })).toHaveLength(1));

  it.each([
    [{ input: 1, output_video: 3 }, {}, ['standard output_video']],
    [{ input: 1, output: 2, reasoning: 3 }, {}, ['standard reasoning']],
    [{ input: 1, output: 2, reasoning: 2 }, {}, []],
    [{ input: 1, tiers: [{ tier: { type: 'hours', size: 1 }, input: 2 }] }, {}, ['standard tier of "hours"']],
    [{ input: 1, context_over_200k: { input: 2 } }, {}, ['standard context_over_200k']],
    [{ input: 1 }, { experimental: { modes: { x: { cost: {}, provider: { body: { speed: 'slow' } } } } } }, ['mode x']],
  ])('names what it does not understand of %j %j', (cost, more, names) => {
    expect(read(listedModel(cost, more))?.notUnderstood).toEqual(names);
  });

  it('reads what a model can read and write', () => {
    const modalities = { input: ['pdf', 'text', 'smell'], output: ['text'] };
    expect(read(listedModel({ input: 1 }, { modalities }))?.facts).toEqual({
      contextWindow: 1000,
      maxOutput: 100,
      inputModalities: ['text', 'pdf'],
      outputModalities: ['text'],
    });
    expect(read(listedModel({ input: 1 }), 'text-embedding-9')?.facts).toMatchObject({
      maxOutput: 0,
      outputModalities: [],
    });
    const image = { input: ['text'], output: ['image'] };
    expect(read(listedModel({ input: 1 }, { modalities: image }))?.facts).toBeUndefined();
  });

  it.each([
    [[]],
    [{ maker: {} }],
    [modelsDevList({ m: 'x' })],
    [modelsDevList({ m: listedModel({ input: '$1' }) })],
    [modelsDevList({ m: listedModel({ input: -1 }) })],
    [modelsDevList({ m: listedModel({ input: 1e-13 }) })],
    [modelsDevList({ m: listedModel({ input: 1e13 }) })],
    [modelsDevList({ m: listedModel([1]) })],
    [modelsDevList({ m: listedModel({ tiers: [{ tier: { size: 1.5 }, input: 1 }] }) })],
    [modelsDevList({ m: listedModel({ input: 1 }, { limit: { context: 'many' } }) })],
    [modelsDevList({ m: listedModel({ input: 1 }, { modalities: { input: 'text' } }) })],
  ])('refuses %j', (document) => {
    expect(() => readModelsDev(document, 'maker')).toThrow(/^expected /);
  });
});
