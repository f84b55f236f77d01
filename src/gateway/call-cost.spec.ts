import { describe, expect, it } from '@jest/globals';
import type { Price, PricedUnit } from '../usage/prices/price.types.js';
import { costOfEstimate, costOfReport } from './call-cost.js';

const SEARCH = { unit: 'search_unit', searchUnits: 2, tokens: 500, exact: true } as const;
const TOKENS = { unit: 'input_token', searchUnits: 0, tokens: 500, exact: false } as const;
const UNKNOWN = { searchUnits: undefined, tokens: undefined };

/** In billionths of a dollar. */
function price(unit: PricedUnit, nano: bigint): Price {
  const effectiveFrom = new Date('2026-01-01T00:00:00Z');
  return { id: unit, provider: 'cohere', model: 'm', unit, price: nano * 1_000_000_000n, effectiveFrom };
}

describe('costOfEstimate', () => {
  it.each([
    ['search units', SEARCH, [price('search_unit', 7n)], 'search_unit', 14n],
    ['tokens', TOKENS, [price('input_token', 3n)], 'input_token', 1_500n],
    [
      'tokens of what is billed by search unit, where that is the price',
      SEARCH,
      [price('input_token', 3n)],
      'input_token',
      1_500n,
    ],
    ['the request', SEARCH, [price('request', 9n)], 'request', 9n],
    ['all that has a price', TOKENS, [price('request', 9n), price('input_token', 3n)], 'input_token', 1_509n],
  ] as const)('adds up %s', (_what, estimate, prices, priceId, costNano) => {
    const cost = costOfEstimate(estimate, prices);
    expect(cost).toMatchObject({ priceId, figures: { costNano, tokens: 500n } });
  });

  it.each([
    ['no price', []],
    ['a price for what is not measured', [price('search_unit', 7n)]],
    ['a price for tokens that nobody makes', [price('output_token', 7n)]],
  ])('knows no price where there is %s', (_what, prices) => {
    expect(costOfEstimate(TOKENS, prices)).toMatchObject({ priceId: null, figures: { costNano: 0n } });
  });

  it.each([
    ['computed', [price('search_unit', 7n)]],
    ['computed', [price('search_unit', 7n), price('request', 9n)]],
    ['computed', []],
    ['estimated', [price('input_token', 3n)]],
    ['estimated', [price('search_unit', 7n), price('input_token', 3n)]],
  ] as const)('is %s by what has a price', (source, prices) => {
    expect(costOfEstimate(SEARCH, prices).source).toBe(source);
    expect(costOfEstimate({ ...SEARCH, exact: false }, prices).source).toBe('estimated');
  });

  it('stays within what a counter holds', () => {
    const absurd = costOfEstimate({ ...TOKENS, tokens: 1e15 }, [price('input_token', 10n ** 15n)]);
    expect(absurd.figures.costNano).toBe(10n ** 15n);
  });
});

describe('costOfReport', () => {
  const bySearch = costOfEstimate(SEARCH, [price('search_unit', 7n)]);
  const byToken = costOfEstimate(TOKENS, [price('input_token', 3n)]);

  it('takes the provider at its word', () => {
    expect(costOfReport({ searchUnits: 5, tokens: undefined }, SEARCH, bySearch)).toEqual({
      figures: { costNano: 35n, searchUnits: 5n, tokens: 500n },
      source: 'provider',
    });
    expect(costOfReport({ searchUnits: undefined, tokens: 0 }, TOKENS, byToken)).toEqual({
      figures: { costNano: 0n, searchUnits: 0n, tokens: 0n },
      source: 'provider',
    });
  });

  it('rounds what should be whole up', () => {
    expect(costOfReport({ searchUnits: 1.2, tokens: undefined }, SEARCH, bySearch).figures.searchUnits).toBe(2n);
  });

  it.each([UNKNOWN, ...[-1, NaN, Infinity, 1e16].map((searchUnits) => ({ searchUnits, tokens: undefined }))])(
    'falls back on the estimate: %j',
    (reported) => {
      expect(costOfReport(reported, SEARCH, bySearch)).toEqual({ figures: bySearch.figures, source: 'computed' });
    },
  );

  it.each([
    ['estimated', UNKNOWN, TOKENS, byToken],
    ['computed', { searchUnits: 5, tokens: undefined, isComputed: true }, SEARCH, bySearch],
    ['computed', { searchUnits: undefined, tokens: 4 }, SEARCH, bySearch],
  ] as const)('says %s where the deciding figure is not the provider’s', (source, reported, estimate, cost) => {
    expect(costOfReport(reported, estimate, cost).source).toBe(source);
  });
});
