import { describe, expect, it } from '@jest/globals';
import { formatDecimal } from '../../src/common/money/decimal.js';
import { PRICE_DECIMALS } from '../../src/usage/prices/price.types.js';
import { genaiList } from './__fixtures__/lists.js';
import { readGenaiPrices } from './genai-prices.js';
import type { SourceModel } from './source.types.js';

const DAY = '2026-09-23';

function read(prices: unknown): SourceModel | undefined {
  return readGenaiPrices(genaiList({ 'm-1': prices }), 'maker', DAY).find('M-1');
}

function textsOf(model: SourceModel | undefined): readonly string[] | undefined {
  return model?.prices.map(({ unit, minInputTokens, price }) => {
    return [unit, minInputTokens, formatDecimal(price, PRICE_DECIMALS)].join(' ');
  });
}

describe('readGenaiPrices', () => {
  it('reads prices by unit, of a million tokens or a thousand of others, exactly', () => {
    const prices = { input_mtok: 0.15, cache_write_mtok: 0.003625, cache_write_1h_mtok: 6, web_searches_kcount: 10 };
    expect(textsOf(read({ ...prices, output_mtok: 0 }))).toEqual([
      'input 0 0.00000015',
      'cache_write_5m 0 0.000000003625',
      'cache_write_1h 0 0.000006',
      'web_search 0 0.01',
    ]);
  });

  it('begins a tier above its limit', () => {
    const input = { base: 2, tiers: [{ start: 200000, price: 4 }] };
    expect(textsOf(read({ input_mtok: input }))).toEqual(['input 0 0.000002', 'input 200001 0.000004']);
  });

  it('takes the prices of the day, and says which come later', () => {
    const since = (start_date: string, input_mtok: number): object => ({
      constraint: { start_date },
      prices: { input_mtok },
    });
    const found = read([{ prices: { input_mtok: 1 } }, since('2026-09-01', 2), since('2027-01-01', 3)]);
    expect(textsOf(found)).toEqual(['input 0 0.000002']);
    expect(found).toMatchObject({ from: '2026-09-01', notUnderstood: ['other prices from 2027-01-01'] });
  });

  it.each([
    [{ input_mtok: 1, cache_audio_read_mtok: 2 }, ['cache_audio_read_mtok']],
    [
      [{ prices: { input_mtok: 1 } }, { constraint: { start_time: '01:00:00Z' }, prices: { input_mtok: 2 } }],
      ['prices by the time of day'],
    ],
  ])('names what it does not understand of %j', (prices, names) => {
    expect(read(prices)?.notUnderstood).toEqual(names);
  });

  it.each([
    [{ equals: 'M-1' }, true],
    [{ starts_with: 'm-' }, true],
    [{ ends_with: '-2' }, false],
    [{ contains: '-1' }, true],
    [{ regex: '^m-\\d$' }, true],
    [{ or: [{ equals: 'x' }, { contains: 'm' }] }, true],
    [{ and: [{ equals: 'x' }, { contains: 'm' }] }, false],
  ])('knows m-1 by %j: %s', (match, isKnown) => {
    const list = [{ id: 'maker', models: [{ id: 'x', match, prices: {} }] }];
    expect(readGenaiPrices(list, 'maker', DAY).find('m-1') !== undefined).toBe(isKnown);
  });

  it('takes prices of other makers where the provider names those', () => {
    const shop = { id: 'shop', models: [], fallback_model_providers: ['maker'] };
    const list = genaiList({ 'm-1': { input_mtok: 1 } }, [shop]);
    expect(readGenaiPrices(list, 'shop', DAY).find('m-1')?.prices).toHaveLength(1);
    expect(readGenaiPrices(list, 'shop', DAY).models).toEqual([]);
  });

  it.each([
    [{}],
    [[{ id: 'other', models: [] }]],
    [[{ id: 'maker' }]],
    [[{ id: 'maker', models: [{ match: { equals: 'x' }, prices: {} }] }]],
    [[{ id: 'maker', models: [{ id: 'x', match: { sounds_like: 'x' }, prices: {} }] }]],
    [[{ id: 'maker', models: [{ id: 'x', match: { equals: 'x', regex: 'x' }, prices: {} }] }]],
    [genaiList({ m: { input_mtok: 'free' } })],
    [genaiList({ m: { input_mtok: 1e-13 } })],
    [genaiList({ m: { input_mtok: { base: 1, tiers: [{ start: -1, price: 2 }] } } })],
    [genaiList({ m: 'free' })],
  ])('refuses %j', (document) => {
    expect(() => readGenaiPrices(document, 'maker', DAY)).toThrow(/^expected /);
  });
});
