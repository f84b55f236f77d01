import { describe, expect, it } from '@jest/globals';
import { costOf } from './cost.js';
import { pricesOf } from './price-list.js';
import type { Price, PricedUnit } from './price.types.js';

const AT = new Date('2026-11-21T00:00:00Z');
const NAMES = [[{ text: 'rerank-v3.5', markLength: 0 }]];

function row(id: string, fields: Partial<Price>): Price {
  return {
    id,
    provider: 'cohere',
    model: 'rerank-v3.5',
    unit: 'search_unit',
    mode: 'standard',
    minInputTokens: 0,
    price: 1n,
    effectiveFrom: new Date('2026-01-01T00:00:00Z'),
    ...fields,
  };
}

function idsOf(...lists: Price[][]): readonly string[] {
  return pricesOf(lists, 'cohere', NAMES, AT).map(({ id }) => id);
}

describe('pricesOf', () => {
  it('returns the newest row in force', () => {
    const old = row('old', {});
    const now = row('now', { effectiveFrom: AT });
    const later = row('later', { effectiveFrom: new Date(AT.getTime() + 1) });
    expect(idsOf([now, later, old])).toEqual(['now']);
  });

  it('prefers the full name to a prefix, and the longer prefix to a shorter one', () => {
    const all = row('all', { model: '*', effectiveFrom: AT });
    const some = row('some', { model: 'rerank-*' });
    const exact = row('exact', {});
    expect(idsOf([all, exact, some])).toEqual(['exact']);
    expect(idsOf([some, all])).toEqual(['some']);
  });

  it('matches names and prefixes in any case', () => {
    expect(idsOf([row('exact', { model: 'Rerank-V3.5' })])).toEqual(['exact']);
    expect(idsOf([row('some', { model: 'Rerank-*' })])).toEqual(['some']);
  });

  it('returns prices of the first list that has the model', () => {
    expect(idsOf([row('foreign', { provider: 'voyage' })], [row('own', {})], [row('bundled', {})])).toEqual(['own']);
  });

  it('takes no unit from a pattern that fits less well', () => {
    const all = row('all', { model: '*', unit: 'request' });
    const some = row('some', { model: 'rerank-*', unit: 'input' });
    const exact = row('exact', {});
    expect(idsOf([all, some, exact])).toEqual(['exact']);
    expect(idsOf([all, some])).toEqual(['some']);
    expect(idsOf([all])).toEqual(['all']);
    expect(idsOf([all, row('later', { effectiveFrom: new Date(AT.getTime() + 1) })])).toEqual(['all']);
  });

  it('returns the newest row of each unit of the pattern', () => {
    const rows = [row('old', {}), row('new', { effectiveFrom: AT }), row('request', { unit: 'request' })];
    expect(idsOf(rows)).toEqual(['new', 'request']);
    expect(idsOf(rows.toReversed())).toEqual(['request', 'new']);
  });

  it('ignores prices of units that the call does not have', () => {
    const lists = [[row('out', { unit: 'output' }), row('any', { model: '*', unit: 'request' })], [row('bundled', {})]];
    const find = (units: readonly PricedUnit[]): readonly string[] =>
      pricesOf(lists, 'cohere', NAMES, AT, units).map(({ id }) => id);
    expect(find(['search_unit', 'request'])).toEqual(['any']);
    expect(find(['search_unit'])).toEqual(['bundled']);
    expect(find(['output', 'search_unit'])).toEqual(['out']);
    expect(find(['input'])).toEqual([]);
  });

  it('returns one row per unit', () => {
    expect(idsOf([row('a', {}), row('b', { unit: 'request' })])).toEqual(['a', 'b']);
  });

  it.each([
    ['another model', { model: 'rerank-v4' }],
    ['a longer name', { model: 'rerank-v3.5-x' }],
    ['a star that is not at the end', { model: '*-v3.5' }],
    ['another provider', { provider: 'azure-ai' }],
  ])('finds no price in %s', (_what, fields) => expect(idsOf([row('x', fields)])).toEqual([]));
});

describe('costOf', () => {
  const perUnit = 2_000_000_000_000_000n; // 0.002 dollars
  const perToken = 50_000_000_000n; // 0.00000005 dollars

  it('adds up the units to a billionth of a dollar', () => {
    const prices = [row('a', { price: perUnit }), row('b', { unit: 'input', price: perToken })];
    expect(costOf({ search_unit: 3n, input: 7n }, prices)).toBe(6_000_350n);
  });

  it('rounds a cost once, half up', () => {
    const price = row('a', { unit: 'input', price: 300_000_000n }); // 3e-10 dollars
    expect(costOf({ input: 1n }, [price])).toBe(0n);
    expect(costOf({ input: 2n }, [price])).toBe(1n);
    expect(costOf({ input: 1_000_000n }, [price])).toBe(300_000n);
  });

  it('charges nothing for a unit without a price', () => expect(costOf({ output: 5n }, [row('a', {})])).toBe(0n));
});
