import { describe, expect, it } from '@jest/globals';
import type { ListedPrice } from './price-list.reader.js';
import { compareList, type Comparison, nameOf } from './price-list-diff.js';

function price(model: string, amount = 100n): ListedPrice {
  return { provider: 'cohere', model, unit: 'search_unit', price: amount };
}

const FIVE = ['a', 'b', 'c', 'd', 'e'].map((model) => price(model));

/** A list to compare with five prices that are in force and that the last import contained. */
function compare(list: readonly ListedPrice[]): Comparison {
  return compareList(list, FIVE, FIVE.map(nameOf));
}

describe('compareList', () => {
  it('reports no difference to the same list', () => {
    expect(compare(FIVE)).toEqual({ changes: [], vanished: [], unchanged: 5, objections: [] });
  });

  it('reports new and changed prices', () => {
    const [first, ...rest] = FIVE;
    const { changes, unchanged, objections } = compare([price('a', 101n), ...rest, price('f')]);
    expect(changes).toEqual([
      { before: first, after: price('a', 101n) },
      { before: undefined, after: price('f') },
    ]);
    expect([unchanged, objections]).toEqual([4, []]);
  });

  it('compares prices by unit', () => {
    const other: ListedPrice = { ...price('a', 1n), unit: 'input' };
    expect(compare([...FIVE, other]).changes).toEqual([{ before: undefined, after: other }]);
  });

  it('accepts one vanished price of five, and objects to two', () => {
    expect(compare(FIVE.slice(1))).toMatchObject({ vanished: [FIVE[0]], objections: [] });
    expect(compare(FIVE.slice(2)).objections).toEqual(['2 of the 5 prices of the last import are gone']);
  });

  it('counts a vanished price also when it is not in force any more', () => {
    const { vanished, objections } = compareList(FIVE.slice(1), FIVE.slice(1), [
      ...FIVE.map(nameOf),
      'cohere f request',
    ]);
    expect(vanished).toEqual([]);
    expect(objections).toEqual(['2 of the 6 prices of the last import are gone']);
  });

  it('counts only prices of the last import of this list as vanished', () => {
    expect(compareList([price('z')], FIVE, [])).toMatchObject({ vanished: [], objections: [] });
  });

  it.each([
    [1_000n, true],
    [1_001n, false],
    [10n, true],
    [9n, false],
  ])('accepts a price that moves from 100 to %s: %s', (amount, isFine) => {
    const { changes, objections } = compare([price('a', amount), ...FIVE.slice(1)]);
    expect(changes).toHaveLength(1);
    expect(objections.length === 0).toBe(isFine);
  });

  it('objects to a price that moves away from zero', () => {
    expect(compareList([price('a', 1n)], [price('a', 0n)], []).objections).toHaveLength(1);
  });

  it('objects to a list without prices', () => {
    expect(compareList([], [], []).objections).toHaveLength(1);
  });
});
