import { describe, expect, it } from '@jest/globals';
import { baseUrl, joinUrl, parseBaseUrl, serverOf } from './build-request.js';

describe('parseBaseUrl', () => {
  it.each(['https://api.cohere.com', 'http://127.0.0.1:4000/v1', 'https://[::1]:8443/a/b/', 'HTTPS://Host.example'])(
    'parses the base URL %s',
    (text) => {
      expect(parseBaseUrl(text)?.href).toBe(new URL(text).href);
    },
  );

  it.each([
    '',
    'api.cohere.com',
    '/v1',
    '//api.cohere.com',
    'ftp://api.cohere.com',
    'https:api.cohere.com',
    'https://user@api.cohere.com',
    'https://user:secret@api.cohere.com',
    'https://api.cohere.com?x=1',
    'https://api.cohere.com/?',
    'https://api.cohere.com#x',
    'https://api.cohere.com\\@evil.com',
    ' https://api.cohere.com',
    'https://api.cohere.com\n',
    'https://',
    `https://api.cohere.com/${'a'.repeat(2_048)}`,
  ])('refuses the base URL %j', (text) => {
    expect(parseBaseUrl(text)).toBeUndefined();
  });
});

describe('baseUrl', () => {
  it('prefers the base URL of the virtual key', () => {
    expect(baseUrl({ base_url: 'https://proxy.example' }, 'https://api.cohere.com').host).toBe('proxy.example');
    expect(baseUrl({}, 'https://api.cohere.com').host).toBe('api.cohere.com');
  });

  it.each([{}, { base_url: 'https://user@host' }])('throws the documented error for %j', (options) => {
    expect(() => baseUrl(options)).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
  });
});

describe('joinUrl', () => {
  const join = (base: string, path: string, query?: Record<string, string>): string =>
    joinUrl(new URL(base), { path, ...(query === undefined ? {} : { query }) }).href;

  it.each([
    ['https://host', '/v2/rerank', 'https://host/v2/rerank'],
    ['https://host/', '/v2/rerank', 'https://host/v2/rerank'],
    ['https://host/proxy', '/v2/rerank', 'https://host/proxy/v2/rerank'],
    ['https://host/proxy//', '/v2/rerank', 'https://host/proxy/v2/rerank'],
    ['https://host/v2', '/v2/rerank', 'https://host/v2/rerank'],
    ['https://host/proxy/v2', '/v1/models', 'https://host/proxy/v1/models'],
    ['https://host/v1', '/models', 'https://host/v1/models'],
    ['https://host/v1', '/v1', 'https://host/v1'],
    ['https://host/v1', '/v10x/y', 'https://host/v1/v10x/y'],
  ])('joins %s and %s', (base, path, url) => {
    expect(join(base, path)).toBe(url);
  });

  it('encodes query parameters', () => {
    expect(join('https://host', '/a', { after: 'x&limit=100' })).toBe('https://host/a?after=x%26limit%3D100');
  });

  it('makes one address for all calls that have no query parameters', () => {
    const base = new URL('https://host');
    const address = joinUrl(base, { path: '/a' });
    expect(joinUrl(base, { path: '/a', query: {} })).toBe(address);
    expect(joinUrl(base, { path: '/a', query: { limit: '1' } })).not.toBe(address);
  });

  it.each(['//evil.com/x', '/\\evil.com', '/@evil.com', '/x?y=1', '/x#y', '/%2f%2fevil.com', '/:8080/x'])(
    'stays on the host with the path %s',
    (path) => {
      const url = new URL(join('https://host/prefix', path));
      expect({ host: url.host, search: url.search, hash: url.hash }).toEqual({ host: 'host', search: '', hash: '' });
      expect(url.pathname).toMatch(/^\/prefix\//);
    },
  );

  it.each([
    '/threads/../models',
    '/threads/%2e%2E/models',
    '/..',
    '/a/./b',
    '/a/..%2Fmodels',
    '/a%5c..%5cb',
    '/a\\..\\b',
    'models',
    '',
  ])('refuses the path %j', (path) => {
    expect(() => join('https://host/prefix', path)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});

describe('serverOf', () => {
  it.each(['https://host/team', 'https://HOST:443/team/', 'https://host/team/v1', 'https://host/team/v1/'])(
    'finds the server of %s',
    (text) => expect(serverOf(new URL(text))).toBe('https://host/team'),
  );

  it.each([
    'https://host/',
    'https://host/other',
    'http://host/team',
    'https://host:8443/team',
    'https://host/team/v1/x',
  ])('finds another server in %s', (text) => expect(serverOf(new URL(text))).not.toBe('https://host/team'));
});
