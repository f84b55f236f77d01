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

describe('assertJsonBody', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/merge-patch+json',
    'application/json;',
    'application/json; charset=utf-8;',
    'application/json; odata.metadata=minimal; Charset=utf-8',
    'application/json; profile="https://example.com/a;b=\\"c\\"" ; v=1',
  ])('takes %s', (type) => expect(() => assertJsonBody({ 'content-type': type })).not.toThrow());

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
    'application/json; charset',
    'application/json; charset=',
    'application/json; a="b',
    'application/json, text/plain',
    'application/jsonp',
    'text/json, application/json',
  ])('refuses %j', (type) => {
    expect(refusalOf(() => assertJsonBody({ 'content-type': type }))).toMatchObject({
      code: 'unsupported_media_type',
      status: 415,
    });
  });

  it('refuses compressed bodies, whose size nobody knows before', () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(refusalOf(() => assertJsonBody(headers)).code).toBe('unsupported_media_type');
    expect(() => assertJsonBody({ ...headers, 'content-encoding': 'identity' })).not.toThrow();
  });
});

describe('parseJsonBody', () => {
  it.each(['{"a": 1}', ' [] ', 'null', '"text"', '1e3', '{"a": "\\u00e4 ä 😀"}'])('parses %s', (text) => {
    expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it.each(['', ' ', '{', '{"a": undefined}', "{'a': 1}", '{"a": 1} x', 'NaN'])('refuses %j', (text) => {
    expect(refusalOf(() => parseJsonBody(Buffer.from(text)))).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('tells where the JSON breaks and not what stands there', () => {
    const { message } = refusalOf(() => parseJsonBody(Buffer.from('{"key": "sk-secret" "x"}')));
    expect(message).toMatch(/position \d+/);
    expect(message).not.toContain('sk-secret');
  });

  it('refuses bytes that are not UTF-8 instead of reading other letters', () => {
    const body = Buffer.concat([Buffer.from('{"a": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(refusalOf(() => parseJsonBody(body)).code).toBe('validation_failed');
  });

  it('refuses what is nested so deep that it would overflow the stack of what reads it', () => {
    const nested = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(() => parseJsonBody(nested(64))).not.toThrow();
    expect(refusalOf(() => parseJsonBody(nested(65))).code).toBe('validation_failed');
    expect(refusalOf(() => parseJsonBody(nested(2_000_000))).code).toBe('validation_failed');
  });

  it('keeps a field called __proto__ an ordinary field', () => {
    const body = parseJsonBody(Buffer.from('{"__proto__": {"admin": true}}'));
    expect(Object.keys(Object(body))).toEqual(['__proto__']);
    expect(Object({})).not.toHaveProperty('admin');
  });
});
