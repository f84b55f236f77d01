import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway.error.js';
import { assertJsonBody, parseJsonBody } from './parse-json-body.js';

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

  it.each([
    ['lists', `[${'[],'.repeat(199_999)}[]]`, 'has more than 200000 lists and objects'],
    ['texts', `[${'"",'.repeat(250_001)}""]`, 'has more than 250000 texts and names'],
    ['fields of one object', `{${'"a":1,'.repeat(1_000)}"a":1}`, 'has an object with more than 1000 fields'],
  ])('refuses JSON with too many %s before it is parsed', (_what, json, expected) => {
    // Cut off, so that the parser would report another error.
    const { message } = refusalOf(() => parseJsonBody(Buffer.from(json.slice(0, -1))));
    expect(message).toBe(`The request body ${expected}.`);
  });

  it('accepts as many lists, objects and fields as are allowed', () => {
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, {}]));
    const body = [fields, ...Array.from({ length: 198_998 }, () => [])];
    expect(parseJsonBody(Buffer.from(JSON.stringify(body)))).toEqual(body);
  });

  it('parses __proto__ as an ordinary field', () => {
    const body = parseJsonBody(Buffer.from('{"__proto__": {"admin": true}}'));
    expect(Object.keys(Object(body))).toEqual(['__proto__']);
    expect(Object({})).not.toHaveProperty('admin');
  });
});
