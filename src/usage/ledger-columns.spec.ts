import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isStorable } from '../common/validation/is-storable.decorator.js';
import { reservationOf } from './__fixtures__/usage.js';
import { cut, ledgerColumns } from './ledger-columns.js';

it.each([
  ['short', 'short'],
  ['exactly ten', 'exactly te'],
  ['\u{1F600}'.repeat(12), '\u{1F600}'.repeat(10)],
  ['a' + '\u{1F600}'.repeat(12), 'a' + '\u{1F600}'.repeat(9)],
  ['NUL\0', 'NUL\uFFFD'],
  ['half\uD83D', 'half\uFFFD'],
])('cuts %j to %j', (text, expected) => {
  expect(cut(text, 10)).toBe(expected);
});

it('makes any text fit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (text, length) => {
      const fitting = cut(text, length);
      expect(isStorable(fitting)).toBe(true);
      expect(Array.from(fitting).length).toBeLessThanOrEqual(length);
    }),
  );
});

it('leaves the key empty for a caller who has none', () => {
  const { dimensions } = reservationOf([]);
  expect(ledgerColumns({ ...dimensions, apiKeyId: null })).toMatchObject({ api_key_id: '' });
});

it('leaves what fits as it is', () => {
  const { dimensions } = reservationOf([]);
  expect(ledgerColumns(dimensions)).toMatchObject({
    api_key_id: dimensions.apiKeyId,
    provider: 'cohere',
    mcp_tool: null,
    attempt: 1,
  });
  expect(ledgerColumns(dimensions)['metadata']).toBe(dimensions.metadata);
});
