import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { jsonMember, jsonString } from './write.js';

describe('jsonMember', () => {
  it.each([
    ['a', ',"name":"a"'],
    ['', ',"name":""'],
    [0, ',"name":0'],
    [1.25, ',"name":1.25'],
    [Number.NaN, ',"name":null'],
    [Number.POSITIVE_INFINITY, ',"name":null'],
    [undefined, ''],
  ])('writes %j as %j', (value, member) => expect(jsonMember('name', value)).toBe(member));

  it('writes any number like JSON.stringify', () =>
    fc.assert(
      fc.property(fc.double(), (value) => expect(jsonMember('n', value)).toBe(`,"n":${JSON.stringify(value)}`)),
    ));
});

describe('jsonString', () => {
  it.each(['"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\ud83d\ude00', '\ud800', 'a\udc00', '\u2028', 'é~ !'])(
    'writes %j so that JSON.parse returns it',
    (text) => expect(JSON.parse(jsonString(text))).toBe(text),
  );

  it('writes any text so that JSON.parse returns it', () =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(JSON.parse(jsonString(text))).toBe(text);
        // Half of a surrogate pair would be invalid UTF-8 in the log.
        expect(Buffer.from(jsonString(text)).toString()).toBe(jsonString(text));
      }),
    ));
});
