import { describe, expect, it } from '@jest/globals';
import { generateApiKey } from './api-key-format.js';
import { readCredentials } from './credentials.js';

const KEY = generateApiKey();
const OTHER_KEY = generateApiKey();
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';

describe('readCredentials', () => {
  it.each([
    ['our own header', { 'x-gateway-api-key': KEY }],
    ['the header that people bring along', { 'x-portkey-api-key': KEY }],
    ['a bearer token of our form', { authorization: `Bearer ${KEY}` }],
    ["the header of Anthropic's clients", { 'x-api-key': KEY }],
    ["the header of Azure's clients", { 'api-key': KEY }],
    ["the header of Google's clients", { 'x-goog-api-key': KEY }],
    ['two headers', { 'x-api-key': KEY, authorization: `Bearer ${KEY}` }],
    ['our own header beside the key of another API', { 'x-gateway-api-key': KEY, 'x-api-key': 'sk-ant-1' }],
    ['a bearer token, whatever the case of its scheme', { authorization: `bearer  ${KEY}` }],
  ])('finds a key in %s', (_where, headers) => {
    expect(readCredentials(headers)).toEqual({ kind: 'api_key', key: KEY });
  });

  it('prefers our own header to every other credential', () => {
    const headers = { 'x-gateway-api-key': KEY, 'x-portkey-api-key': 'tg_other', authorization: `Bearer ${TOKEN}` };
    expect(readCredentials(headers)).toEqual({ kind: 'api_key', key: KEY });
  });

  it.each([
    [{ 'x-gateway-api-key': KEY, authorization: `Bearer ${OTHER_KEY}` }, 'x-gateway-api-key and authorization'],
    [{ authorization: `Bearer ${KEY}`, 'x-api-key': OTHER_KEY }, 'authorization and x-api-key'],
    [{ 'api-key': KEY, 'x-goog-api-key': OTHER_KEY }, 'api-key and x-goog-api-key'],
  ])('refuses two keys in %j', (headers, names) => {
    expect(() => readCredentials(headers)).toThrow(`The headers ${names} have different gateway keys.`);
  });

  it('reads other bearer tokens as admin tokens', () => {
    expect(readCredentials({ authorization: `Bearer ${TOKEN}` })).toEqual({ kind: 'token', token: TOKEN });
  });

  it('reads a mistyped key as a key in both headers', () => {
    expect(readCredentials({ authorization: 'Bearer tg_mistyped' })).toEqual({ kind: 'api_key', key: 'tg_mistyped' });
    expect(readCredentials({ 'x-gateway-api-key': 'junk' })).toEqual({ kind: 'api_key', key: 'junk' });
  });

  it.each([
    {},
    { 'x-gateway-api-key': '' },
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${TOKEN} ${TOKEN}` },
    { authorization: `Basic ${KEY}` },
    { authorization: KEY },
    { 'x-api-key': 'sk-ant-1' },
    { 'api-key': '' },
    { cookie: `x-gateway-api-key=${KEY}` },
  ])('finds no credential in %j', (headers) => expect(readCredentials(headers)).toEqual({ kind: 'none' }));
});
