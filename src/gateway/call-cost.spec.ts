import { describe, expect, it } from '@jest/globals';
import type { Price } from '../usage/prices/price.types.js';
import type { QuantityUnit } from '../usage/units.js';
import { aboveBound, costOfEstimate, costOfReport, measuredUnits } from './call-cost.js';

const SEARCH = { unit: 'search_unit', counts: { search_unit: 2, input: 500 } } as const;
const TOKENS = { unit: 'input', counts: { input: 500 } } as const;

/** In billionths of a dollar. */
function price(unit: QuantityUnit, nano: bigint): Price {
  const effectiveFrom = new Date('2026-01-01T00:00:00Z');
  return {
    id: unit,
    provider: 'cohere',
    model: 'm',
    unit,
    mode: 'standard',
    minInputTokens: 0,
    price: nano * 1_000_000_000n,
    effectiveFrom,
  };
}

describe('costOfEstimate', () => {
  it.each([1e14 + 1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER * 128, Infinity])(
    'bounds a call that may write %p tokens by the highest figure, not by nothing',
    (output) => {
      const { bound } = costOfEstimate({ unit: 'input', counts: { input: 5, output } }, []);
      expect(bound.quantities).toEqual({ input: 5n, output: 100_000_000_000_000n });
    },
  );

  it.each([
    ['search units', SEARCH, [price('search_unit', 7n)], ['search_unit'], 14n],
    ['tokens', TOKENS, [price('input', 3n)], ['input'], 1_500n],
    ['tokens of a model that bills search units', SEARCH, [price('input', 3n)], ['input'], 1_500n],
    ['the request', SEARCH, [price('request', 9n)], ['request'], 9n],
    ['all that has a price', TOKENS, [price('request', 9n), price('input', 3n)], ['request', 'input'], 1_509n],
  ] as const)('prices %s', (_what, estimate, prices, priceIds, costNano) => {
    expect(costOfEstimate(estimate, prices)).toMatchObject({
      isPriced: true,
      rate: { mode: 'standard', tier: 0, priceIds },
      bound: { costNano, quantities: { input: 500n } },
    });
  });

  it.each([
    ['no price', []],
    ['a price for what is not measured', [price('search_unit', 7n)]],
    ['a price for tokens that the call does not make', [price('output', 7n)]],
  ])('returns no price for a call with %s', (_what, prices) => {
    const unpriced = { isPriced: false, rate: { priceIds: [] }, bound: { costNano: 0n } };
    expect(costOfEstimate(TOKENS, prices)).toMatchObject(unpriced);
  });

  it.each([
    [true, 'input and output', [price('input', 3n), price('output', 9n)]],
    [true, 'the request alone', [price('request', 9n)]],
    [false, 'input only', [price('input', 3n)]],
    [false, 'output only', [price('output', 9n)]],
    [false, 'the request and input only', [price('request', 9n), price('input', 3n)]],
    [false, 'another tier of output only', [price('input', 3n), { ...price('output', 9n), minInputTokens: 1_000 }]],
    [false, 'another mode of output only', [price('input', 3n), { ...price('output', 9n), mode: 'batch' as const }]],
  ])('returns %s for the price of a chat call whose model has a price for %s', (isPriced, _what, prices) => {
    const cost = costOfEstimate({ unit: 'output', counts: { input: 100, cache_read: 0, output: 10 } }, prices);
    expect(cost.isPriced).toBe(isPriced);
    expect(cost.bound.costNano > 0n).toBe(isPriced);
  });

  it('counts one request where requests have a price', () => {
    expect(costOfEstimate(TOKENS, [price('request', 9n)]).bound.quantities).toEqual({ input: 500n, request: 1n });
    expect(costOfEstimate(TOKENS, [price('input', 9n)]).bound.quantities).toEqual({ input: 500n });
  });

  it('keeps the bound within the range of a counter', () => {
    const absurd = costOfEstimate({ ...TOKENS, counts: { input: 1e15 } }, [price('input', 10n ** 15n)]);
    expect(absurd.bound.costNano).toBe(10n ** 15n);
  });
});

it('reserves at the price of a unit that a call may use besides', () => {
  const estimate = { ...TOKENS, mayUse: ['cache_write_5m'] } as const;
  expect(measuredUnits(estimate)).toEqual(['input', 'cache_write_5m', 'request']);
  const cost = costOfEstimate(estimate, [price('input', 4n), price('cache_write_5m', 5n)]);
  expect(cost.bound).toEqual({ costNano: 2_500n, quantities: { input: 500n } });
  const { figures } = costOfReport({ counts: { input: 1, cache_write_5m: 2 } }, estimate, cost);
  expect(figures.costNano).toBe(14n);
});

describe('modes', () => {
  const PRICES: readonly Price[] = [
    price('input', 2n),
    { ...price('input', 5n), id: 'priority', mode: 'priority' },
    { ...price('input', 1n), id: 'flex', mode: 'flex' },
  ];

  it.each([
    [undefined, 1_000n, 'standard'],
    [['standard'], 1_000n, 'standard'],
    [['flex', 'standard'], 1_000n, 'standard'],
    [['standard', 'flex', 'priority'], 2_500n, 'priority'],
    [['batch', 'flex'], 1_000n, 'standard'],
  ] as const)('reserve a call that may be served in %j at the dearest', (modes, costNano, mode) => {
    const { bound, rate } = costOfEstimate({ ...TOKENS, ...(modes === undefined ? {} : { modes }) }, PRICES);
    expect([bound.costNano, rate.mode]).toEqual([costNano, mode]);
  });

  it.each([
    ['priority', 'priority', 50n],
    ['flex', 'flex', 10n],
    ['batch', 'batch', 20n],
    [undefined, 'flex', 10n],
  ] as const)('settle a call that was served in %s', (mode, settled, costNano) => {
    const estimate = { ...TOKENS, modes: ['flex', 'standard'] } as const;
    const { figures, rate } = costOfReport({ counts: { input: 10 }, mode }, estimate, costOfEstimate(estimate, PRICES));
    expect([figures.costNano, rate.mode]).toEqual([costNano, settled]);
  });
});

describe('costOfReport', () => {
  const bySearch = costOfEstimate(SEARCH, [price('search_unit', 7n)]);
  const byToken = costOfEstimate(TOKENS, [price('input', 3n)]);

  it('uses the figures of the provider', () => {
    expect(costOfReport({ counts: { search_unit: 5, input: undefined } }, SEARCH, bySearch)).toEqual({
      rate: expect.anything(),
      figures: { costNano: 35n, quantities: { search_unit: 5n, input: 500n } },
      source: 'provider',
      aboveBound: 'reported',
    });
    expect(costOfReport({ counts: { input: 0, cache_read: 2 } }, TOKENS, byToken)).toMatchObject({
      figures: { costNano: 6n, quantities: { input: 0n, cache_read: 2n } },
      source: 'provider',
    });
  });

  it('falls back on the bound where all figures of the provider are zero, but not where ours are', () => {
    const counts = { input: 0, output: 0 };
    const bound = { costNano: 1_500n, quantities: { input: 500n } };
    expect(costOfReport({ counts }, TOKENS, byToken)).toMatchObject({ figures: bound, source: 'computed' });
    expect(costOfReport({ counts, isComputed: true }, TOKENS, byToken).figures.costNano).toBe(0n);
    expect(costOfReport({ counts: { search_unit: 0 } }, SEARCH, bySearch)).toMatchObject({
      figures: { costNano: 0n },
      source: 'provider',
    });
  });

  it('rounds fractions of whole units up', () => {
    const { figures } = costOfReport({ counts: { search_unit: 1.2 } }, SEARCH, bySearch);
    expect(figures.quantities.search_unit).toBe(2n);
  });

  it.each([undefined, -1, NaN, Infinity, 1e16])('falls back on the bound for %p search units', (search_unit) => {
    expect(costOfReport({ counts: { search_unit } }, SEARCH, bySearch)).toEqual({
      rate: expect.anything(),
      figures: bySearch.bound,
      source: 'computed',
    });
  });

  it.each([
    ['the provider reports nothing', { counts: {} }, TOKENS, byToken],
    ['the figures are ours', { counts: { search_unit: 5 }, isComputed: true }, SEARCH, bySearch],
    ['the provider reports another unit only', { counts: { input: 4 } }, SEARCH, bySearch],
  ] as const)('marks the cost as computed when %s', (_when, reported, estimate, cost) => {
    expect(costOfReport(reported, estimate, cost).source).toBe('computed');
  });
});

describe('a cost that the provider reports', () => {
  const prices = [price('input', 3n)];
  const cost = costOfEstimate(TOKENS, prices);

  it.each([7n, 7_000n])('of %s gives way to the prices of the model', (reported) => {
    const report = costOfReport({ counts: { input: 100 }, cost: reported }, TOKENS, cost);
    expect(report).toMatchObject({ figures: { costNano: 300n, quantities: { input: 100n } }, source: 'provider' });
    expect(report.aboveBound).toBeUndefined();
  });

  it('is charged where the model has no price', () => {
    const report = costOfReport({ counts: { input: 100 }, cost: 7_000n }, TOKENS, costOfEstimate(TOKENS, []));
    expect(report).toMatchObject({ figures: { costNano: 7_000n }, source: 'provider' });
    expect(report.aboveBound).toBeUndefined();
  });

  it('is no more than a counter holds', () => {
    const report = costOfReport({ counts: { input: 1 }, cost: 10n ** 20n }, TOKENS, costOfEstimate(TOKENS, []));
    expect(report.figures.costNano).toBe(10n ** 15n);
  });

  it('does not count for an answer that was only computed', () => {
    const report = costOfReport(
      { counts: { input: 100 }, isComputed: true, cost: 7n },
      TOKENS,
      costOfEstimate(TOKENS, []),
    );
    expect(report.figures.costNano).toBe(0n);
  });
});

describe('reports above the bound', () => {
  const bound = { input: 10n, output: 5n, search_unit: 1n };

  it.each([
    [undefined, { input: 10n, output: 5n, search_unit: 1n }],
    [undefined, { input: 4n, cache_read: 6n }],
    [undefined, { image: 1_000n }],
    ['reported', { input: 11n }],
    ['reported', { input: 10n, cache_write_1h: 30n }],
    ['reported', { search_unit: 4n }],
    ['capped', { input: 10n, cache_write_1h: 31n }],
    ['capped', { input: 1n, output: 21n }],
    ['capped', { search_unit: 5n }],
  ] as const)('charges %s for a report of %j', (expected, reported) => {
    expect(aboveBound(reported, bound)).toBe(expected);
  });

  it('charges the bound for a report that is not believed', () => {
    const cost = costOfEstimate(SEARCH, [price('search_unit', 7n)]);
    const { figures, source } = costOfReport({ counts: { search_unit: 1_000_000, input: 3 } }, SEARCH, cost);
    expect(figures).toBe(cost.bound);
    expect(source).toBe('capped');
  });

  it('compares a report with the extended bound of a stream', () => {
    const cost = costOfEstimate(TOKENS, [price('input', 3n)]);
    const extended = { costNano: 3_000n, quantities: { input: 1_000n } };
    const report = { counts: { input: 3_000 } };
    expect(costOfReport(report, TOKENS, cost).source).toBe('capped');
    expect(costOfReport(report, TOKENS, cost, extended)).toEqual({
      rate: expect.anything(),
      figures: { costNano: 9_000n, quantities: { input: 3_000n } },
      source: 'provider',
      aboveBound: 'reported',
    });
  });

  it('believes our own count of a stream', () => {
    const cost = costOfEstimate(TOKENS, [price('input', 3n)]);
    const counted = costOfReport({ counts: { input: 9_000 }, isComputed: true }, TOKENS, cost);
    expect(counted).toMatchObject({ source: 'computed', aboveBound: undefined, figures: { costNano: 27_000n } });
  });
});
