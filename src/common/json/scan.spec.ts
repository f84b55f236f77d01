import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { countMembers, excessOf, isDeeperThan, withMember } from './scan.js';

function nested(levels: number, inner = ''): Buffer {
  return Buffer.from('['.repeat(levels) + inner + ']'.repeat(levels));
}

/** The same result by counting the levels of the parsed value. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('isDeeperThan', () => {
  it('finds the first level beyond the limit', () => {
    expect(isDeeperThan(nested(64), 64)).toBe(false);
    expect(isDeeperThan(nested(65), 64)).toBe(true);
    expect(isDeeperThan(nested(1_000_000), 64)).toBe(true);
  });

  it('counts arrays and objects alike', () => {
    const text = '{"a":['.repeat(33) + ']}'.repeat(33);
    expect(isDeeperThan(Buffer.from(text), 66)).toBe(false);
    expect(isDeeperThan(Buffer.from(text), 65)).toBe(true);
  });

  it('does not count sibling brackets, or brackets in strings', () => {
    expect(isDeeperThan(Buffer.from(JSON.stringify(Array.from({ length: 500 }, () => [{}]))), 64)).toBe(false);
    expect(isDeeperThan(Buffer.from(JSON.stringify(['['.repeat(500)])), 64)).toBe(false);
  });

  it.each(['\\"', '\\\\', '\\\\\\"', 'a\\\\\\\\'])('finds the end of a string that ends in %s', (end) => {
    expect(isDeeperThan(nested(3, `"${end}","${'['.repeat(9)}"`), 3)).toBe(false);
    expect(isDeeperThan(nested(3, `"${end}",[]`), 3)).toBe(true);
  });

  it('agrees with the parsed value for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter }), fc.nat({ max: 7 }), (value, limit) => {
        expect(isDeeperThan(Buffer.from(JSON.stringify(value)), limit)).toBe(depthOf(value) > limit);
      }),
      { numRuns: 500 },
    );
  });

  it('terminates for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => typeof isDeeperThan(Buffer.from(bytes), 3) === 'boolean'));
    expect(isDeeperThan(Buffer.from(`"${'\\'.repeat(1_000)}`), 0)).toBe(false);
  });
});

const count = (text: string): number => countMembers(Buffer.from(text));

describe('countMembers', () => {
  it.each([
    ['{}', 0],
    ['{"a":1}', 1],
    ['{"a":1,"b":2}', 2],
    [' {\n\t"a" : 1 ,\r\n "b" :2 } ', 2],
    ['{"":":"}', 1],
  ])('counts the members of %s', (text, members) => {
    expect(count(text)).toBe(members);
  });

  it.each([
    ['{"a":{"b":1,"c":2},"d":[{"e":1}]}', 2],
    ['{"a":[[{"b":{"c":1}}]],"d":1}', 2],
  ])('leaves out the members of inner objects: %s', (text, members) => {
    expect(count(text)).toBe(members);
  });

  it.each([
    [String.raw`{"a":"{\"b\":1,\"c\":2}"}`, 1],
    [String.raw`{"a\\":"\\","b":"\\\"}:"}`, 2],
    ['{"a":"}","b":"]:["}', 2],
    ['{"ä":"😀:","b":1}', 2],
  ])('ignores the contents of strings: %s', (text, members) => {
    expect(count(text)).toBe(members);
  });

  it.each([
    ['{"a":1,"a":2}'],
    [String.raw`{"a":1,"\u0061":2}`],
    ['{"a":1,"b":3,"a":2}'],
    ['{"__proto__":1,"__proto__":2}'],
  ])('counts duplicate names: %s', (text) => {
    expect(count(text)).toBe(Object.keys(JSON.parse(text)).length + 1);
  });
});

describe('withMember', () => {
  const renamed = (json: string): string => withMember(Buffer.from(json), 'model', 'm"1').toString();

  it.each([
    ['{"model":"@co/x","n":12345678901234567890}', '{"model":"m\\"1","n":12345678901234567890}'],
    ['{ "a" : [1, {"model": "inner"}], "model" : "x" }', '{ "a" : [1, {"model": "inner"}], "model" : "m\\"1" }'],
    ['{"model":\n\t["x" ]\r ,"b":1}', '{"model":\n\t"m\\"1"\r ,"b":1}'],
    ['{"mod\\u0065l":"x","b":"}"}', '{"mod\\u0065l":"m\\"1","b":"}"}'],
    ['{"model":"one","b":1,"model":"two"}', '{"model":"m\\"1","b":1,"model":"m\\"1"}'],
    ['{"text":"\\"model\\":1"}', '{"text":"\\"model\\":1"}'],
  ])('changes the member of the outermost object and nothing else: %s', (json, expected) => {
    expect(renamed(json)).toBe(expected);
  });

  it('changes the member of any JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.string(), (members, before, after) => {
        const json = withMember(Buffer.from(JSON.stringify({ ...members, model: before })), 'model', after);
        // As text: JSON has no -0.
        expect(json.toString()).toBe(JSON.stringify({ ...members, model: after }));
      }),
    );
  });
});

const THREE = { a: 1, b: 2, c: 3 };

describe('excessOf', () => {
  const of = (value: unknown, bounds: Partial<Parameters<typeof excessOf>[1]>): string | undefined =>
    excessOf(Buffer.from(JSON.stringify(value)), { depth: 64, ...bounds });

  it.each([
    ['at the top', THREE],
    ['in a field', { a: THREE }],
    ['in an array', [1, null, [THREE]]],
    ['far inside', { a: [{ b: { c: THREE } }] }],
    ['around another one', { a: 1, b: [{ x: 1 }, {}], c: 3 }],
    ['of names that every object knows', JSON.parse('{"__proto__":1,"toString":2,"constructor":3}')],
  ])('finds an object with too many fields %s', (_where, value) => {
    expect(of(value, { fields: 2 })).toBe('fields');
  });

  it.each([
    ['an object at the limit', THREE],
    ['several objects that are too large only together', [THREE, { a: THREE }]],
    ['a long array', Array.from({ length: 10 }, (_, index) => index)],
    ['colons in a string', '{"a":1,"b":2,"c":3,"d":4}'],
    ['null', null],
  ])('accepts %s as small enough', (_what, value) => {
    expect(of(value, { fields: 3 })).toBeUndefined();
  });

  it('counts texts and names, each once', () => {
    const value = { a: 'x', b: ['y', '', 1, { c: '"', d: [] }], e: null };
    expect(of(value, { strings: 9 })).toBeUndefined();
    expect(of(value, { strings: 8, fields: 0 })).toBe('fields');
    expect(of({ list: [value, value] }, { strings: 18, depth: 1 })).toBe('depth');
    expect(of([value], { strings: 8, fields: 5 })).toBe('strings');
  });

  it('counts lists and objects, but no brackets in strings', () => {
    const value = [{}, [[]], { a: {} }, '[{[{'];
    expect(of(value, { containers: 6 })).toBeUndefined();
    expect(of(value, { containers: 5 })).toBe('containers');
    expect(of(value, { containers: 5, depth: Infinity })).toBe('containers');
  });
});
