import { describe, expect, it } from '@jest/globals';
import {
  addQuantities,
  fromQuantitiesJson,
  isWithinBound,
  largestQuantities,
  NO_QUANTITIES,
  QUANTITY_UNITS,
  tokensOf,
  tokensOfJson,
  toQuantitiesJson,
} from './units.js';

describe('quantities by unit', () => {
  it('sums tokens of all kinds and ignores other units', () => {
    const one = Object.fromEntries(QUANTITY_UNITS.map((unit) => [unit, 1n]));
    expect(tokensOf(one)).toBe(10n);
    expect(tokensOf({ search_unit: 3n, request: 1n, web_search: 2n, audio_second: 5n, image: 1n })).toBe(0n);
    expect(tokensOf(NO_QUANTITIES)).toBe(0n);
  });

  it('sums the tokens of quantities in JSON, and no unit that is unknown or not a token', () => {
    const one = Object.fromEntries(QUANTITY_UNITS.map((unit) => [unit, 1]));
    expect(tokensOfJson({ ...one, dreams: 7 })).toBe(10);
    expect(tokensOfJson({ search_unit: 3 })).toBe(0);
  });

  it('adds unit by unit and keeps the difference between unknown and 0', () => {
    expect(addQuantities({ input: 1n, output: 0n }, { input: 2n, search_unit: 4n })).toEqual({
      input: 3n,
      output: 0n,
      search_unit: 4n,
    });
    expect(addQuantities(NO_QUANTITIES, NO_QUANTITIES)).toEqual({});
  });

  it('returns the larger figure of each unit', () => {
    expect(largestQuantities({ input: 5n, output: 1n }, { input: 4n, image: 2n })).toEqual({
      input: 5n,
      output: 1n,
      image: 2n,
    });
  });

  it.each([
    [true, { input: 5n }, { input: 5n, output: 1n }],
    [true, { input: 5n, output: 0n }, { input: 5n }],
    [false, { input: 6n }, { input: 5n, output: 9n }],
    [true, { input: 2n, cache_read: 3n }, { input: 5n }],
    [false, { input: 3n, cache_read: 3n }, { input: 5n }],
    [false, { output: 1n }, { input: 5n }],
    [false, { search_unit: 2n }, { search_unit: 1n }],
    [true, { image: 1n }, { input: 5n }],
  ])('returns %s for %j within the bound %j', (expected, quantities, bound) => {
    expect(isWithinBound(quantities, bound)).toBe(expected);
  });

  it('reads back the quantities that it wrote as JSON, without unknown units', () => {
    const quantities = { input: 10n ** 15n, cache_read: 0n, search_unit: 2n };
    const json: unknown = JSON.parse(JSON.stringify(toQuantitiesJson(quantities)));
    expect(json).toEqual({ input: 1e15, cache_read: 0, search_unit: 2 });
    expect(fromQuantitiesJson({ ...toQuantitiesJson(quantities), dreams: 7, output: 'many' })).toEqual(quantities);
  });
});
