import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonMember, jsonObject, jsonString } from './write.js';

describe('jsonMember', () => {
  it.each([
    ['a', ',"name":"a"'],
    ['', ',"name":""'],
    [0, ',"name":0'],
    [1.25, ',"name":1.25'],
    [Number.NaN, ',"name":null'],
    [Number.POSITIVE_INFINITY, ',"name":null'],
    [undefined, ''],
  ])('of %j is %j', (value, member) => expect(jsonMember('name', value)).toBe(member));

  it('is what JSON.stringify makes of any number', () =>
    fc.assert(
      fc.property(fc.double(), (value) => expect(jsonMember('n', value)).toBe(`,"n":${JSON.stringify(value)}`)),
    ));
});

describe('jsonString', () => {
  it.each(['"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\ud83d\ude00', '\ud800', 'a\udc00', '\u2028', 'é~ !'])(
    'of %j is what JSON.parse reads as the same',
    (text) => expect(JSON.parse(jsonString(text))).toBe(text),
  );

  it('is what JSON.parse reads as the same for any text', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(jsonString(text))).toBe(text);
        // Half of a pair would be no UTF-8 in the log.
        expect(Buffer.from(jsonString(text)).toString()).toBe(jsonString(text));
      }),
    ));
});

describe('jsonObject', () => {
  it.each([
    ['', '{}'],
    [jsonMember('a', 1) + jsonMember('b', undefined) + jsonMember('c', 'd'), '{"a":1,"c":"d"}'],
  ])('of %j is %s', (members, json) => expect(jsonObject(members)).toBe(json));
});
