import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDecimal, fromScaled, parseDecimal, roundDecimal, toScaled } from './decimal.js';

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
    'returns undefined for %j',
    (text) => expect(parseDecimal(text, 18)).toBeUndefined(),
  );

  it('refuses more decimals than requested', () => {
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

describe('toScaled', () => {
  it.each([
    [0, 9, 0n],
    [1, 9, 1_000_000_000n],
    [0.1, 9, 100_000_000n],
    [0.000001, 9, 1_000n],
    [1e-9, 9, 1n],
    [1.5e-8, 9, 15n],
    [1e12, 9, 10n ** 21n],
    [1e21, 0, 10n ** 21n],
    [1.7976931348623157e308, 0, BigInt(1.7976931348623157e308 / 1e292) * 10n ** 292n],
    [12, 0, 12n],
  ])('reads %s with %i decimals', (value, decimals, expected) => {
    if (value > 1e300) expect(toScaled(value, decimals)).toBeGreaterThan(10n ** 308n);
    else expect(toScaled(value, decimals)).toBe(expected);
  });

  it.each([
    [1e-10, 9],
    [0.1234567891, 9],
    [0.5, 0],
    [-1, 9],
    [Number.NaN, 9],
    [Infinity, 9],
  ])('refuses %s with %i decimals', (value, decimals) => expect(toScaled(value, decimals)).toBeUndefined());

  it('converts back to the number that was sent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (digits) => {
        const value = Number(`${digits}e-9`);
        const scaled = toScaled(value, 9);
        expect(scaled).toBe(BigInt(digits));
        expect(fromScaled(scaled ?? -1n, 9)).toBe(value);
      }),
    );
  });
});

describe('fromScaled', () => {
  it.each([
    [0n, 9, 0],
    [1n, 9, 1e-9],
    [-1_500_000_000n, 9, -1.5],
    [42n, 0, 42],
  ])('converts %s to a number', (value, decimals, expected) => expect(fromScaled(value, decimals)).toBe(expected));
});
