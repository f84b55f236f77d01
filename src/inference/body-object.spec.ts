import { describe, expect, it } from '@jest/globals';
import { bodyObject } from './body-object.js';

const bodyWith = (value: string): Buffer => Buffer.from(`{"model":"m","input":${value}}`);
const lists = (count: number): string => `[${Array.from({ length: count }, () => '[]').join(',')}]`;

describe('bodyObject', () => {
  it('reads the fields of a body', () => {
    expect(bodyObject(bodyWith(lists(100)))).toMatchObject({ model: 'm' });
  });

  it.each([
    ['nests too deep', '['.repeat(200) + ']'.repeat(200), 'nests too deep'],
    ['has too many lists', lists(200_001), 'too many lists, objects or fields'],
    ['has too many texts', `[${'"",'.repeat(250_000)}""]`, 'more than 250000 texts and names'],
    ['is broken off', '[', 'is not valid JSON'],
  ])('says of a body what is wrong with it: it %s', (_what, value, problem) => {
    expect(() => bodyObject(bodyWith(value))).toThrow(expect.objectContaining({ code: 'validation_failed' }));
    expect(() => bodyObject(bodyWith(value))).toThrow(problem);
  });
});
