import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway.error.js';
import { assertJsonBody, hasObjectLargerThan, parseJsonBody } from './parse-json-body.js';

function refusalOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('assertJsonBody', () => {
  describe.each(['plain', 'suffixed'] as const)('of %s types', (types) => {
    it.each([
      'application/json',
      'Application/JSON; charset=UTF-8',
      'application/json;charset="utf-8"',
      'APPLICATION/json;charset="utf8"',
      'application/json; charset=utf8',
      'application/json;',
      'application/json; charset=utf-8;',
      'application/json; odata.metadata=minimal; Charset=utf-8',
      'application/json; profile="https://example.com/a;b=\\"c\\"" ; v=1',
    ])('accepts the content type %s', (type) => {
      for (const encoding of [{}, { 'content-encoding': 'identity' }, { 'content-encoding': 'Identity' }]) {
        expect(() => assertJsonBody({ 'content-type': type, ...encoding }, types)).not.toThrow();
      }
    });

    it.each([
      undefined,
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=iso-8859-1',
      'application/json; v=1; charset=iso-8859-1',
      'application/json; charset=utf-8; charset=utf-16',
      'application/json; charset="utf-16"',
      'application/json; x="; charset=utf-16"',
      'application/json; charset',
      'application/json; charset=',
      'application/json, text/plain',
      'application/jsonp',
      'text/json, application/json',
    ])('refuses the content type %j', (type) => {
      expect(refusalOf(() => assertJsonBody({ 'content-type': type }, types))).toMatchObject({
        code: 'unsupported_media_type',
        status: 415,
      });
    });

    it.each([
      [{ 'content-type': 'text/plain' }, 'application/json'],
      [{ 'content-type': 'application/json; charset=utf-16' }, 'UTF-8'],
      [{ 'content-type': 'application/json; profile=x; charset=latin1' }, 'UTF-8'],
      // The size after decompression is unknown.
      [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, 'compressed'],
      [{ ...JSON_TYPE, 'content-encoding': 'identity, br' }, 'compressed'],
    ])('explains the refusal of %j', (headers, reason) => {
      expect(refusalOf(() => assertJsonBody(headers, types)).message).toContain(reason);
    });
  });

  it.each(['application/merge-patch+json', 'application/problem+json; charset=utf-8'])(
    'accepts the suffixed content type %s where allowed',
    (type) => {
      const headers = { 'content-type': type };
      expect(() => assertJsonBody(headers, 'suffixed')).not.toThrow();
      expect(refusalOf(() => assertJsonBody(headers, 'plain')).code).toBe('unsupported_media_type');
    },
  );
});

describe('parseJsonBody', () => {
  it.each(['{"a": 1}', ' [] ', 'null', '"text"', '1e3', '{"a": "\\u00e4 ä 😀"}'])('parses the JSON %s', (text) => {
    expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it.each(['', ' ', '{', '{"a": undefined}', "{'a': 1}", '{"a": 1} x', 'NaN'])('refuses the JSON %j', (text) => {
    expect(refusalOf(() => parseJsonBody(Buffer.from(text)))).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('names the position of a syntax error without quoting the text', () => {
    const { message } = refusalOf(() => parseJsonBody(Buffer.from('{"key": "sk-secret" "x"}')));
    expect(message).toMatch(/position \d+/);
    expect(message).not.toContain('sk-secret');
  });

  it('refuses bytes that are not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"a": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(refusalOf(() => parseJsonBody(body)).code).toBe('validation_failed');
  });

  it('refuses JSON that is nested too deeply', () => {
    const nested = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(() => parseJsonBody(nested(64))).not.toThrow();
    expect(refusalOf(() => parseJsonBody(nested(65))).code).toBe('validation_failed');
    expect(refusalOf(() => parseJsonBody(nested(2_000_000))).code).toBe('validation_failed');
  });

  it('parses __proto__ as an ordinary field', () => {
    const body = parseJsonBody(Buffer.from('{"__proto__": {"admin": true}}'));
    expect(Object.keys(Object(body))).toEqual(['__proto__']);
    expect(Object({})).not.toHaveProperty('admin');
  });
});

const THREE = { a: 1, b: 2, c: 3 };

describe('hasObjectLargerThan', () => {
  it.each([
    ['at the top', THREE],
    ['in a field', { a: THREE }],
    ['in an array', [1, null, [THREE]]],
    ['far inside', { a: [{ b: { c: THREE } }] }],
    ['of names that every object knows', JSON.parse('{"__proto__":1,"toString":2,"constructor":3}')],
  ])('finds an object that is too large %s', (_where, value) => {
    expect(hasObjectLargerThan(value, 2)).toBe(true);
  });

  it.each([
    ['an object at the limit', THREE],
    ['several objects that are too large only together', [THREE, { a: THREE }]],
    ['a long array', Array.from({ length: 10 }, (_, index) => index)],
    ['a long string', 'abcdef'],
    ['null', null],
    ['a number', 7],
  ])('accepts %s as small enough', (_what, value) => {
    expect(hasObjectLargerThan(value, 3)).toBe(false);
  });
});
