import { describe, expect, it } from '@jest/globals';
import { hasObjectLargerThan } from './json-fields.js';

const THREE = { a: 1, b: 2, c: 3 };

describe('hasObjectLargerThan', () => {
  it.each([
    ['at the top', THREE],
    ['in a field', { a: THREE }],
    ['in an array', [1, null, [THREE]]],
    ['far inside', { a: [{ b: { c: THREE } }] }],
    ['of names that every object knows', JSON.parse('{"__proto__":1,"toString":2,"constructor":3}')],
  ])('finds an object that is too large %s', (_where, value) => {
    expect(hasObjectLargerThan(value, 2)).toBe(true);
  });

  it.each([
    ['an object at the limit', THREE],
    ['several objects that are too large only together', [THREE, { a: THREE }]],
    ['a long array', Array.from({ length: 10 }, (_, index) => index)],
    ['a long string', 'abcdef'],
    ['null', null],
    ['a number', 7],
  ])('accepts %s', (_what, value) => {
    expect(hasObjectLargerThan(value, 3)).toBe(false);
  });
});
