import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { generateApiKey, looksLikeApiKey, publicIdOf } from './api-key-format.js';

/** Made by hand once: pins the form, the alphabet and the checksum for keys that are already out in the world. */
const KNOWN_KEY = 'tg_00000000_00000000000000000000000000000000000000000003zwdnl';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('generateApiKey', () => {
  it('makes keys of the documented form', () => {
    expect(generateApiKey()).toMatch(/^tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
  });

  it('makes keys that it reads back', () => {
    const key = generateApiKey();
    expect(publicIdOf(key)).toBe(key.slice(3, 11));
  });

  it('never makes the same key twice', () => {
    const keys = Array.from({ length: 1_000 }, generateApiKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(keys.map(publicIdOf)).size).toBe(keys.length);
  });

  it('uses every digit about equally often', () => {
    const digits = Array.from({ length: 2_000 }, () => generateApiKey().slice(12, 55)).join('');
    const expected = digits.length / BASE62.length;
    for (const digit of BASE62) {
      const count = digits.split(digit).length - 1;
      expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2);
    }
  });
});

describe('publicIdOf', () => {
  it('still reads keys of the first release', () => expect(publicIdOf(KNOWN_KEY)).toBe('00000000'));

  it('detects every single mistyped character', () => {
    const key = generateApiKey();
    const place = fc.integer({ min: 3, max: key.length - 1 });
    const digit = fc.constantFrom(...BASE62.split(''));
    fc.assert(
      fc.property(place, digit, (at, other) => {
        fc.pre(key[at] !== other && key[at] !== '_');
        expect(publicIdOf(key.slice(0, at) + other + key.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  it('detects two swapped neighbours', () => {
    const key = generateApiKey();
    fc.assert(
      fc.property(fc.integer({ min: 12, max: key.length - 2 }), (at) => {
        fc.pre(key[at] !== key[at + 1]);
        const swapped = `${key.slice(0, at)}${key[at + 1]}${key[at]}${key.slice(at + 2)}`;
        expect(publicIdOf(swapped)).toBeUndefined();
      }),
    );
  });

  it.each([
    '',
    'tg_',
    KNOWN_KEY.slice(0, -1),
    `${KNOWN_KEY}0`,
    ` ${KNOWN_KEY}`,
    `${KNOWN_KEY}\n`,
    KNOWN_KEY.toUpperCase(),
    KNOWN_KEY.replace('tg_', 'sk_'),
    KNOWN_KEY.replace('00000000_', '0000000-_'),
    KNOWN_KEY.replaceAll('_', ''),
  ])('refuses %j', (text) => expect(publicIdOf(text)).toBeUndefined());

  it('refuses every value that is not a key', () => {
    fc.assert(fc.property(fc.string(), (text) => publicIdOf(text) === undefined));
    fc.assert(fc.property(fc.stringMatching(/^tg_\w{8}_\w{49}$/), (text) => publicIdOf(text) === undefined));
  });
});

describe('looksLikeApiKey', () => {
  it('distinguishes a mistyped key from a token, so that each gets the right refusal', () => {
    expect(looksLikeApiKey('tg_mistyped')).toBe(true);
    expect(looksLikeApiKey('eyJhbGciOiJSUzI1NiJ9.e30.c2ln')).toBe(false);
  });
});
