import { describe, expect, it } from '@jest/globals';
import { countMembers } from './json-members.js';

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
  ])('leaves out what stands in strings: %s', (text, members) => {
    expect(count(text)).toBe(members);
  });

  it.each([
    ['{"a":1,"a":2}'],
    [String.raw`{"a":1,"\u0061":2}`],
    ['{"a":1,"b":3,"a":2}'],
    ['{"__proto__":1,"__proto__":2}'],
  ])('counts a name as often as it comes: %s', (text) => {
    expect(count(text)).toBe(Object.keys(JSON.parse(text)).length + 1);
  });
});
