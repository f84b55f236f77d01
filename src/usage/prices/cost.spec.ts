import { describe, expect, it } from '@jest/globals';
import type { QuantityUnit } from '../units.js';
import { costOf, highestPrices, pricesThatApply, rateOf } from './cost.js';
import { NO_RATE, type Price } from './price.types.js';

/** In billionths of a dollar. */
function price(id: string, unit: QuantityUnit, nano: bigint, fields: Partial<Price> = {}): Price {
  const effectiveFrom = new Date('2026-01-01T00:00:00Z');
  const place = { provider: 'openai', model: 'm', mode: 'standard', minInputTokens: 0 } as const;
  return { id, unit, ...place, price: nano * 1_000_000_000n, effectiveFrom, ...fields };
}

const PRICES = [
  price('in', 'input', 10n),
  price('in-long', 'input', 20n, { minInputTokens: 200_000 }),
  price('out', 'output', 40n),
  price('out-long', 'output', 60n, { minInputTokens: 200_000 }),
  price('in-batch', 'input', 5n, { mode: 'batch' }),
  price('in-priority', 'input', 18n, { mode: 'priority' }),
];
const idsOf = (prices: readonly Price[]): readonly string[] => prices.map(({ id }) => id).sort();

describe('pricesThatApply', () => {
  it.each([
    ['the first tier', { input: 199_999n, output: 1n }, ['in', 'out']],
    ['the next tier for the whole call', { input: 200_000n, output: 1n }, ['in-long', 'out-long']],
    ['the tier by all that is read', { input: 1n, cache_read: 199_999n }, ['in-long', 'out-long']],
    ['the first tier, whatever is written', { output: 900_000n }, ['in', 'out']],
  ])('applies %s', (_what, quantities, ids) => {
    expect(idsOf(pricesThatApply(PRICES, 'standard', quantities))).toEqual(ids);
  });

  it('uses the standard price of units without a price for the mode', () => {
    expect(idsOf(pricesThatApply(PRICES, 'batch', { input: 5n }))).toEqual(['in-batch', 'out']);
    expect(idsOf(pricesThatApply(PRICES, 'flex', { input: 5n }))).toEqual(['in', 'out']);
  });
});

describe('highestPrices', () => {
  it('chooses the highest price of each unit that can apply to the bound', () => {
    expect(idsOf(highestPrices(PRICES, ['standard'], { input: 100n }))).toEqual(['in', 'out']);
    expect(idsOf(highestPrices(PRICES, ['standard'], { input: 300_000n }))).toEqual(['in-long', 'out-long']);
    expect(idsOf(highestPrices(PRICES, ['standard', 'priority'], { input: 100n }))).toEqual(['in-priority', 'out']);
    expect(idsOf(highestPrices(PRICES, ['batch'], { input: 100n }))).toEqual(['in-batch', 'out']);
  });

  it('chooses a lower tier where it is more expensive', () => {
    const cheaper = [price('first', 'input', 9n), price('long', 'input', 4n, { minInputTokens: 10 })];
    expect(idsOf(highestPrices(cheaper, ['standard'], { input: 100n }))).toEqual(['first']);
  });

  it('costs at least as much as any call within the bound', () => {
    const bound = { input: 250_000n, output: 1_000n };
    const most = costOf(bound, highestPrices(PRICES, ['standard'], bound));
    for (const input of [0n, 199_999n, 200_000n, 250_000n]) {
      const quantities = { input, output: 1_000n };
      expect(costOf(quantities, pricesThatApply(PRICES, 'standard', quantities))).toBeLessThanOrEqual(most);
    }
  });
});

describe('rateOf', () => {
  it('names the mode, the highest tier and all prices of a rate', () => {
    const applied = pricesThatApply(PRICES, 'batch', { input: 200_000n });
    expect(rateOf(applied, 'batch')).toMatchObject({ mode: 'batch', tier: 200_000 });
    expect([...rateOf(applied, 'batch').priceIds].sort()).toEqual(['in-batch', 'out-long']);
    expect(rateOf([], 'batch')).toEqual(NO_RATE);
  });
});

describe('units without a price of their own', () => {
  const known = [price('in', 'input', 10n), price('write', 'cache_write_5m', 12n), price('out', 'output', 40n)];

  it.each([
    ['cache_read', 10n],
    ['cache_write_5m', 12n],
    ['cache_write_1h', 12n],
    ['input_audio', 10n],
    ['input_image', 10n],
    ['output_audio', 40n],
    ['output_image', 40n],
    ['web_search', 0n],
  ] as const)('bills %s at a price that is known', (unit, nano) => {
    expect(costOf({ [unit]: 3n }, known)).toBe(3n * nano);
  });

  it('bills a unit at its own price where it has one', () => {
    expect(costOf({ input: 1n, cache_read: 100n }, [...known, price('read', 'cache_read', 1n)])).toBe(110n);
  });

  it('reserves all input at the highest price of a unit of input', () => {
    const highest = highestPrices([...known, price('read', 'cache_read', 1n)], ['standard'], { input: 100n });
    expect(highest.map(({ id, unit }) => [id, unit])).toEqual([
      ['write', 'input'],
      ['out', 'output'],
    ]);
    const most = costOf({ input: 100n, cache_read: 0n, output: 5n }, highest);
    expect(most).toBe(1_400n);
    expect(costOf({ cache_write_1h: 100n, output_audio: 5n }, known)).toBeLessThanOrEqual(most);
  });
});
