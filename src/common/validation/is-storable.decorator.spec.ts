import { describe, expect, it } from '@jest/globals';
import { isStorable } from './is-storable.decorator.js';

describe('isStorable', () => {
  it.each(['', 'text', 'two\nlines\ttab', '検索 😀', '\u{10ffff}', 1, true, null, undefined, {}, { a: [{ b: 'c' }] }])(
    'accepts %j as storable',
    (value) => expect(isStorable(value)).toBe(true),
  );

  it.each([
    '\0',
    'in the mid\0dle',
    '\ud800',
    'a\udc00b',
    '\udc00\ud800',
    ['fine', '\0'],
    { claims: { groups: ['a\0'] } },
    { 'key\0': 1 },
    { a: { '\ud800': 1 } },
  ])('refuses %j as not storable', (value) => expect(isStorable(value)).toBe(false));
});
