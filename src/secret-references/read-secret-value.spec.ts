import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type SecretDocument, SecretError } from './managers/secret-manager.types.js';
import { readSecretValue } from './read-secret-value.js';

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);

const text = (value: string): SecretDocument => ({ kind: 'text', text: value });
const fields = (value: Readonly<Record<string, unknown>>): SecretDocument => ({ kind: 'fields', fields: value });

function read(document: SecretDocument, secretKey: string | null, valueFormat: 'string' | 'json' = 'string'): unknown {
  return readSecretValue(document, { secretKey, valueFormat });
}

function errorOf(work: () => unknown): SecretError {
  try {
    work();
  } catch (error) {
    if (error instanceof SecretError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a value as text', () => {
  it.each([
    ['the whole text', text('sk-1'), null, 'sk-1'],
    ['a text that only looks like JSON', text('{"a":1}'), null, '{"a":1}'],
    ['a key of a JSON text', text('{"api_key":"sk-1","other":2}'), 'api_key', 'sk-1'],
    ['a number', text('{"a":42}'), 'a', '42'],
    ['a fraction', text('{"a":0.5}'), 'a', '0.5'],
    ['a truth value', text('{"a":false}'), 'a', 'false'],
    ['an object', text('{"a":{"b":[1]}}'), 'a', '{"b":[1]}'],
    ['an empty text', text('{"a":""}'), 'a', ''],
    ['a named field', fields({ a: 'x', b: 'y' }), 'b', 'y'],
    ['the only field', fields({ a: 'x' }), null, 'x'],
    ['a key with dots and spaces', fields({ 'a.b c': 'x' }), 'a.b c', 'x'],
    ['a field of an inherited name that is its own', text('{"constructor":"x"}'), 'constructor', 'x'],
    ['own __proto__ of a JSON text', text('{"__proto__":"x"}'), '__proto__', 'x'],
  ])('reads as text %s', (_what, document, key, value) => expect(read(document, key)).toBe(value));

  it.each([
    ['sk-1\n', 'sk-1'],
    ['sk-1\r\n', 'sk-1'],
    ['sk-1\n\n', 'sk-1\n'],
    ['\nsk-1', '\nsk-1'],
    ['sk-1 ', 'sk-1 '],
    ['\n', ''],
  ])('removes one line break at the end: %j', (given, value) => expect(read(text(given), null)).toBe(value));

  it.each([
    ['a missing key', text('{"a":1}'), 'b', 'key_missing'],
    ['null', text('{"a":null}'), 'a', 'key_missing'],
    ['an inherited name', text('{"a":1}'), 'constructor', 'key_missing'],
    ['an inherited name of fields', fields({ a: 'x' }), 'toString', 'key_missing'],
    ['__proto__', text('{"a":1}'), '__proto__', 'key_missing'],
    ['__proto__ of fields', fields({ a: 'x' }), '__proto__', 'key_missing'],
    ['several fields without a name', fields({ a: 'x', b: 'y' }), null, 'key_missing'],
    ['no field at all', fields({}), null, 'key_missing'],
    ['a null field', fields({ a: null }), null, 'key_missing'],
    ['a key of a text that is not JSON', text('sk-secret'), 'a', 'not_json'],
    ['a key of an array', text('["sk-secret"]'), '0', 'not_json'],
    ['a key of a JSON string', text('"sk-secret"'), 'length', 'not_json'],
    ['a key of null', text('null'), 'a', 'not_json'],
    ['a key of an empty text', text(''), 'a', 'not_json'],
    ['a key of what is nested too deeply', text(`{"a":${DEEP}}`), 'a', 'not_json'],
    ['a number that JSON cannot hold', text('{"a":12345678901234567890}'), 'a', 'not_text'],
  ])('refuses as text %s', (_what, document, key, code) => expect(errorOf(() => read(document, key)).code).toBe(code));
});

describe('a value as JSON', () => {
  it.each([
    ['a whole text', text('{"a":[1,null]}'), null, { a: [1, null] }],
    ['a number in a text', text('30000'), null, 30_000],
    ['a text inside of JSON', text('{"a":"{\\"b\\":1}"}'), 'a', { b: 1 }],
    ['a number', text('{"a":42}'), 'a', 42],
    ['null', text('{"a":null}'), 'a', null],
    ['an object', fields({ a: { b: 1 } }), 'a', { b: 1 }],
  ])('reads as JSON %s', (_what, document, key, value) => expect(read(document, key, 'json')).toEqual(value));

  it.each([
    ['a text that is not JSON', text('sk-secret'), null],
    ['a field that is not JSON', fields({ a: 'sk-secret' }), 'a'],
    ['half of it', text('{"a":'), null],
    ['what is nested too deeply', text(DEEP), null],
  ])('refuses as JSON %s', (_what, document, key) =>
    expect(errorOf(() => read(document, key, 'json')).code).toBe('not_json'),
  );
});

it('never shows a value in an error', () => {
  const secret = fc.string({ minLength: 6 }).map((value) => `S3CR3T${value}`);
  fc.assert(
    fc.property(secret, (value) => {
      const refused = [
        () => read(text(value), 'a'),
        () => read(text(value), null, 'json'),
        () => read(text(JSON.stringify({ a: value })), 'b'),
        () => read(fields({ a: value, b: value }), null),
      ].map((work) => errorOf(work));
      for (const error of refused) expect(error.message + error.detail).not.toContain('S3CR3T');
    }),
  );
});
