import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import {
  hasLongNumbers,
  parseExactNumbers,
  parseLongNumbers,
  parseWithNumbersAsText,
  stringifyLongNumbers,
  textOfValue,
  withDoublesOutside,
} from './numbers.js';

describe('parseWithNumbersAsText', () => {
  it('keeps every digit of numbers', () => {
    const json = '{"a": 9007199254740993, "b": [5e-08, -0.10, 1E+2], "c": 0.1234567890123456789}';
    expect(parseWithNumbersAsText(json)).toEqual({
      a: '9007199254740993',
      b: ['5e-08', '-0.10', '1E+2'],
      c: '0.1234567890123456789',
    });
  });

  it('does not change strings, whatever they contain', () => {
    const value = { 'key 1': 'a "quoted" 2', '3': '\\', '"': ['\\"4', 'é5'], n: null, t: true };
    expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(value);
  });

  it('changes nothing but numbers in any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const expected: unknown = JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
          typeof item === 'number' ? String(item) : item,
        );
        expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(expected);
      }),
    );
  });

  it('reads long strings', () => {
    const value = { long: `${'x\\n"1'.repeat(500_000)}` };
    expect(parseWithNumbersAsText(JSON.stringify(value))).toEqual(value);
  });

  it.each(['', '{', '{"a": 1.2.3}', '[01]', '1-2', '{a: 1}'])('throws SyntaxError for %j', (json) => {
    expect(() => parseWithNumbersAsText(json)).toThrow(SyntaxError);
  });
});

describe('parseExactNumbers', () => {
  it.each([
    '1234567890123456789',
    '-1234567890123456790',
    '0.12345678901234567890',
    '1e400',
    '-1e-400',
    '9007199254740993',
  ])('keeps the digits of %s', (number) => {
    expect(textOfValue(parseExactNumbers(number))).toBe(number);
    const nested = `{"a":[${number},"x"],"b":{"c":1}}`;
    expect(textOfValue(parseExactNumbers(nested))).toBe(nested);
  });

  it.each([
    ['1.0', '1'],
    ['1e3', '1000'],
    ['0.10', '0.1'],
    ['0e5', '0'],
    ['true', 'true'],
    ['[1.50]', '[1.5]'],
    ['"1234567890123456789"', '1234567890123456789'],
    ['"text"', 'text'],
  ])('writes %s as %s', (json, text) => expect(textOfValue(parseExactNumbers(json))).toBe(text));

  it.each(['', '{', '[012345678901234567]', '12345678901234567.1.2', '{"a": 12345678901234567 1}'])(
    'throws SyntaxError for %j',
    (json) => expect(() => parseExactNumbers(json)).toThrow(SyntaxError),
  );
});

describe('withDoublesOutside', () => {
  const KEPT = new Set(['kept']);
  const written = (json: string): string => stringifyLongNumbers(withDoublesOutside(parseExactNumbers(json), KEPT));

  it('keeps the digits within objects of these names alone', () => {
    const [long = ''] = LONG;
    expect(written(`{"a":[{"kept":{"b":[${long}]}}],"c":${long}}`)).toBe(
      `{"a":[{"kept":{"b":[${long}]}}],"c":12345678901234567000}`,
    );
  });

  it.each(['{"kept":12345678901234567890}', '{"kept":[1e400,"x",null]}', '[0.12345678901234567891]'])(
    'has the doubles of JSON.parse in %s',
    (json) => expect(withDoublesOutside(parseExactNumbers(json), KEPT)).toEqual(JSON.parse(json)),
  );

  it('marks no number as a program writes a double', () => {
    const json = '{"kept":{"a":[0.30000000000000004,1e-7,1.7976931348623157e+308]}}';
    expect(parseExactNumbers(json)).toEqual(JSON.parse(json));
  });

  it('keeps all digits of fifty thousand numbers of a text, and reads the others as doubles', () => {
    const text = written(`{"kept":{"a":[${'12345678901234567890,'.repeat(60_000)}1]}}`);
    expect(text.split('12345678901234567890')).toHaveLength(50_001);
    expect(text.split('12345678901234567000')).toHaveLength(10_001);
  });
});

const LONG = [
  '12345678901234567890',
  '-9007199254740993',
  '9007199254740993',
  '9007199254740992',
  '100000000000000000000',
];
const OTHERS = [
  '0',
  '-0',
  '9007199254740991',
  '-9007199254740991',
  '123456789012345',
  '1.0',
  '1e400',
  '0.12345678901234567890',
  '12345678901234567890.5',
  '12345678901234567890e1',
];

const kept = (json: string): string => stringifyLongNumbers(parseLongNumbers(Buffer.from(json)));

describe('hasLongNumbers', () => {
  it.each([...LONG, '{"a":[{"b":-9007199254740993}]}', '["x",12345678901234567890]'])(
    'finds a long number in %s',
    (json) => {
      expect(hasLongNumbers(JSON.parse(json))).toBe(true);
    },
  );

  it.each(['9007199254740991', '{"a":[{"b":0.1}]}', '["12345678901234567890",null,true,{}]'])(
    'finds no long number in %s',
    (json) => {
      expect(hasLongNumbers(JSON.parse(json))).toBe(false);
    },
  );
});

describe('long numbers', () => {
  it.each(LONG)('keeps the long number %s', (number) => {
    const json = `{"a":[${number},"x"],"b":{"c":${number}},"d":${number}}`;
    expect(kept(json)).toBe(json);
  });

  it.each(OTHERS)('does not treat %s as a long number', (number) => {
    expect(parseLongNumbers(Buffer.from(`{"a":${number}}`))).toEqual(JSON.parse(`{"a":${number}}`));
  });

  it.each(['"12345678901234567890"', '"a\\"b\\\\","12345678901234567890\\u00e9 é"', '{"12345678901234567890":"1"}'])(
    'does not treat a string of digits as a long number: %s',
    (json) => {
      expect(parseLongNumbers(Buffer.from(`[${json}]`))).toEqual(JSON.parse(`[${json}]`));
      expect(JSON.parse(kept(`[${json}]`))).toEqual(JSON.parse(`[${json}]`));
    },
  );

  it('keeps the last of two members with the same name, like JSON.parse', () => {
    const json = `{"a":1,"a":${LONG[0]},"__proto__":{"b":1}}`;
    expect(kept(json)).toBe(`{"a":${LONG[0]},"__proto__":{"b":1}}`);
  });

  it('keeps long numbers in any JSON, and changes nothing else', () => {
    const number = fc.oneof(fc.constantFrom(...LONG), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        number,
        fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
        fc.array(tie('json')).map((items) => `[${items.join(',')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie('json')), { selector: ([name]) => name })
          .map((members) => `{${members.map(([name, item]) => `${JSON.stringify(`k${name}`)}:${item}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(json, (text) => {
        // JSON allows several spellings of the other numbers.
        expect(JSON.stringify(JSON.parse(kept(text)))).toBe(JSON.stringify(JSON.parse(text)));
        for (const long of LONG) expect(kept(text).split(long)).toHaveLength(text.split(long).length);
      }),
    );
  });

  // Each of these took minutes, or overflowed the stack, with one of the regular expressions that were tried.
  it.each([
    ['of a million digits', `1${'0'.repeat(1_000_000)}1`],
    ['beside a million others', `${'1e3,'.repeat(1_000_000)}1`],
    ['beside half a million of its kind', `${'12345678901234567,'.repeat(500_000)}1`],
    ['beside a text of nothing but escapes', `"${'\\n'.repeat(8_000_000)}"`],
  ])('finds long numbers in linear time: %s', (_where, items) => {
    const json = `[${items},${LONG[0]}]`;
    expect(kept(json).endsWith(`,${LONG[0]}]`)).toBe(true);
  });
});
