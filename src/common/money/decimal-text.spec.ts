import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDecimal, parseDecimal, roundDecimal } from './decimal-text.js';

describe('parseDecimal', () => {
  it.each([
    ['0', 18, 0n],
    ['0.002', 18, 2_000_000_000_000_000n],
    ['5e-08', 18, 50_000_000_000n],
    ['1E2', 0, 100n],
    ['1.50', 1, 15n],
    ['9007199254740993', 0, 9_007_199_254_740_993n],
    ['0.000000000000000001', 18, 1n],
    ['007', 0, 7n],
  ])('reads %s with %i decimals', (text, decimals, expected) => expect(parseDecimal(text, decimals)).toBe(expected));

  it.each(['', ' 1', '1 ', '-1', '+1', '.5', '5.', '1,5', '0x1', '1e', '1e9999', 'NaN', '1_000', '１'])(
    'reads no number in %j',
    (text) => expect(parseDecimal(text, 18)).toBeUndefined(),
  );

  it('takes no more decimals than asked for', () => {
    expect(parseDecimal('0.0000000000000000001', 18)).toBeUndefined();
    expect(parseDecimal('1e-19', 18)).toBeUndefined();
    expect(parseDecimal('0.10', 1)).toBe(1n);
  });

  it('reads what formatDecimal writes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.nat({ max: 20 }), (value, decimals) => {
        expect(parseDecimal(formatDecimal(value, decimals), decimals)).toBe(value);
      }),
    );
  });
});

describe('roundDecimal', () => {
  it.each([
    ['0.00000000000000000049', 18, 0n],
    ['0.0000000000000000005', 18, 1n],
    ['1.4', 0, 1n],
    ['0.002', 18, 2_000_000_000_000_000n],
    ['text', 18, undefined],
  ])('reads %s with %i decimals', (text, decimals, expected) => expect(roundDecimal(text, decimals)).toBe(expected));
});

describe('formatDecimal', () => {
  it.each([
    [0n, 18, '0'],
    [0n, 0, '0'],
    [10n, 0, '10'],
    [100n, 2, '1'],
    [50_000_000_000n, 18, '0.00000005'],
    [10n ** 18n * 120n, 18, '120'],
  ])('writes %s with %i decimals', (value, decimals, text) => expect(formatDecimal(value, decimals)).toBe(text));
});
