import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mayHaveLongNumbers, parseLongNumbers, stringifyLongNumbers } from './long-numbers.js';

const LONG = [
  '12345678901234567890',
  '-9007199254740993',
  '0.12345678901234567',
  '1e400',
  '-1E+999',
  '5e-324',
  '1.2345678901234567e5',
];
const EXACT = [
  '0',
  '-0',
  '1.0',
  '1e3',
  '123456789012345',
  '0.000000000000000000001',
  '100000000000000000000',
  '1.00000000000000000000',
  '2.5E-300',
];

describe('mayHaveLongNumbers', () => {
  it.each(['12345678901234567890', '{"a":[{"b":-9007199254740993}]}', '["x",1e400]'])('sees %s', (json) => {
    expect(mayHaveLongNumbers(JSON.parse(json))).toBe(true);
  });

  it.each(['9007199254740991', '{"a":[{"b":0.1}]}', '["12345678901234567890",null,true,{}]'])('passes %s', (json) => {
    expect(mayHaveLongNumbers(JSON.parse(json))).toBe(false);
  });
});

describe('parseLongNumbers', () => {
  it.each(LONG)('keeps %s', (number) => {
    const json = `{"a":[${number},"x"],"b":{"c":${number}}}`;
    const parsed = parseLongNumbers(Buffer.from(json));
    expect(parsed).toBeDefined();
    expect(stringifyLongNumbers(parsed?.value)).toBe(json);
  });

  it.each(EXACT)('has nothing to keep of %s', (number) => {
    expect(parseLongNumbers(Buffer.from(`{"a":${number}}`))).toBeUndefined();
    const text = stringifyLongNumbers(parseLongNumbers(Buffer.from(`[${number},${LONG[0]}]`))?.value);
    expect(text).toBe(`[${JSON.stringify(Number(number))},${LONG[0]}]`);
  });

  it.each([
    '"12345678901234567890"',
    '"a\\"b\\\\","12345678901234567890\\u00e9 é"',
    '{"12345678901234567890":"1e400"}',
  ])('takes no text for a number: %s', (json) => expect(parseLongNumbers(Buffer.from(`[${json}]`))).toBeUndefined());

  it('reads of two members with one name the last, as JSON.parse does', () => {
    const json = `{"a":1,"a":${LONG[0]},"__proto__":{"b":1}}`;
    expect(stringifyLongNumbers(parseLongNumbers(Buffer.from(json))?.value)).toBe(
      `{"a":${LONG[0]},"__proto__":{"b":1}}`,
    );
  });

  it('gives any JSON back with each number as it stands there', () => {
    const number = fc.oneof(fc.constantFrom(...LONG), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        number,
        fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
        fc.array(tie('json')).map((items) => `[${items.join(',')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string({ minLength: 1 }), tie('json')), { selector: ([name]) => name })
          .map((members) => `{${members.map(([name, item]) => `${JSON.stringify(`k${name}`)}:${item}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(json, (inner) => {
        const text = `[${LONG[0]},${inner}]`;
        const kept = stringifyLongNumbers(parseLongNumbers(Buffer.from(text))?.value);
        // Numbers that a double holds may be written in another way.
        expect(JSON.stringify(JSON.parse(kept))).toBe(JSON.stringify(JSON.parse(text)));
        for (const long of LONG) expect(kept.split(long)).toHaveLength(text.split(long).length);
      }),
    );
  });

  it('is done with a long text of nothing but escapes', () => {
    const json = Buffer.from(`["${'\\n'.repeat(8_000_000)}",${LONG[0]}]`);
    expect(parseLongNumbers(json)).toBeDefined();
  });
});
