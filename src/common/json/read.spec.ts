import { describe, expect, it } from '@jest/globals';
import {
  isObject,
  numberOrUndefined,
  parseForeignJson,
  readArray,
  readNumber,
  readObject,
  readString,
  stringOrUndefined,
  UnexpectedShapeError,
} from './read.js';

const VALUES = [{ a: 1 }, [1], 'text', '', 1, 0, -1.5, true, null, undefined] as const;

const READERS = [
  ['readObject', readObject, (value: unknown) => isObject(value)],
  ['readArray', readArray, (value: unknown) => Array.isArray(value)],
  ['readString', readString, (value: unknown) => typeof value === 'string'],
  ['readNumber', readNumber, (value: unknown) => typeof value === 'number'],
] as const;

describe.each(READERS)('%s', (_name, read, isRight) => {
  it.each(VALUES.filter(isRight).map((value) => [value]))('returns %j unchanged', (value) => {
    expect(read(value, 'body')).toBe(value);
  });

  it.each(VALUES.filter((value) => !isRight(value)).map((value) => [value]))('refuses %j', (value) => {
    expect(() => read(value, 'body')).toThrow(UnexpectedShapeError);
  });
});

it.each([NaN, Infinity, -Infinity])('refuses %p as a number, since JSON cannot contain it', (value) => {
  expect(() => readNumber(value, 'body')).toThrow(UnexpectedShapeError);
  expect(numberOrUndefined(value)).toBeUndefined();
});

it('reports the expected type and the path, not the value', () => {
  expect(() => readNumber('hunter2', 'body.data[0].score')).toThrow(/^expected a number at body\.data\[0\]\.score$/);
});

describe('fields that only inform', () => {
  it('reads informative fields that are present', () => {
    expect(stringOrUndefined('id')).toBe('id');
    expect(numberOrUndefined(0)).toBe(0);
  });

  it.each([null, undefined, {}, [], true])('returns undefined for an informative field with the value %j', (value) => {
    expect(stringOrUndefined(value)).toBeUndefined();
    expect(numberOrUndefined(value)).toBeUndefined();
  });
});

describe('parseForeignJson', () => {
  it.each(['[1]', Buffer.from('[1]'), '\ufeff[1]', Buffer.from('\ufeff[1]')])('parses %j', (json) => {
    expect(parseForeignJson(json)).toEqual([1]);
  });

  it('parses an answer that nests twice as deep as a request may', () => {
    expect(parseForeignJson('['.repeat(128) + ']'.repeat(128))).toEqual(expect.any(Array));
  });

  it.each([
    ['a word', 'hello'],
    ['129 levels', '['.repeat(129) + ']'.repeat(129)],
    ['10 MB of brackets', '['.repeat(10_000_000)],
    ['100,001 fields', `{${'"a":1,'.repeat(100_000)}"a":1}`],
    ['200,001 lists', `[${'[],'.repeat(199_999)}[]]`],
  ])('returns undefined for %s', (_what, json) => {
    expect(parseForeignJson(json)).toBeUndefined();
    expect(parseForeignJson(Buffer.from(json))).toBeUndefined();
  });
});
