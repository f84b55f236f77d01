import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseWithNumbersAsText } from './numbers-as-text.js';

describe('parseWithNumbersAsText', () => {
  it('keeps every digit', () => {
    const json = '{"a": 9007199254740993, "b": [5e-08, -0.10, 1E+2], "c": 0.1234567890123456789}';
    expect(parseWithNumbersAsText(json)).toEqual({
      a: '9007199254740993',
      b: ['5e-08', '-0.10', '1E+2'],
      c: '0.1234567890123456789',
    });
  });

  it('leaves text as it is, whatever stands in it', () => {
    const value = { 'key 1': 'a "quoted" 2', '3': '\\', '"': ['\\"4', 'é5'], n: null, t: true };
    expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(value);
  });

  it('changes nothing but numbers in any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const expected: unknown = JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
          typeof item === 'number' ? String(item) : item,
        );
        expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(expected);
      }),
    );
  });

  it('can read long texts', () => {
    const value = { long: `${'x\\n"1'.repeat(500_000)}` };
    expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(value);
  });

  it.each(['', '{', '{"a": 1.2.3}', '[01]', '1-2', '{a: 1}'])('refuses %j', (json) => {
    expect(() => parseWithNumbersAsText(json)).toThrow(SyntaxError);
  });
});
