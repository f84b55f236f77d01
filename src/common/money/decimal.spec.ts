import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromScaled, toScaled } from './decimal.js';

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

  it('comes back as the number that was sent', () => {
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
  ])('shows %s', (value, decimals, expected) => expect(fromScaled(value, decimals)).toBe(expected));
});
