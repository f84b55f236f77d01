import { afterEach, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, customFetch, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { failureOf, loopbackPolicy, until } from '../__fixtures__/calls.js';
import { startHttp, type Loopback } from '../__fixtures__/loopback.js';
import { EgressPolicy } from './egress-policy.js';
import { guardedFetch } from './guarded-fetch.js';

const servers: Loopback[] = [];
const get = guardedFetch(loopbackPolicy(), { timeoutMs: 2_000, maxResponseBytes: 10_000 });

async function serve(...parameters: Parameters<typeof startHttp>): Promise<Loopback> {
  const server = await startHttp(...parameters);
  servers.push(server);
  return server;
}

afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

describe('guardedFetch', () => {
  it('returns a Response', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'x-many': ['a', 'b'] }).end('{"a":1}');
    });
    const response = await get(server.url('/'));
    expect(response.status).toBe(201);
    expect(response.headers.get('x-many')).toBe('a, b');
    expect(await response.json()).toEqual({ a: 1 });
  });

  it('returns a Response without a body for a 204', async () => {
    const server = await serve((_request, response) => response.writeHead(204).end());
    expect((await get(server.origin)).status).toBe(204);
  });

  it('sends method, headers and body in any form that fetch accepts', async () => {
    let received = '';
    const server = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.toString()));
      request.on('end', () => response.end());
    });
    await get(server.url('/'), {
      method: 'POST',
      headers: new Headers({ 'x-one': '1' }),
      body: new URLSearchParams({ a: 'b' }),
    });
    await get(new Request(server.url('/'), { method: 'PUT', body: 'text' }));

    expect(server.requests.map(({ method, headers }) => [method, headers['x-one'], headers['content-type']])).toEqual([
      ['POST', '1', 'application/x-www-form-urlencoded;charset=UTF-8'],
      ['PUT', undefined, 'text/plain;charset=UTF-8'],
    ]);
    expect(received).toBe('a=btext');
  });

  it('leaves no connection behind', async () => {
    const server = await serve((_request, response) => response.end());
    await get(server.url('/'));
    expect(server.connections).toBe(1);
    await until(() => server.open.size === 0);
  });

  it.each([
    'https://10.0.0.1/jwks',
    'https://metadata.google.internal/',
    'http://api.example.com/',
    'https://user:hunter2@api.example.com/',
  ])('applies the egress rules to a fetch: %s', async (url) => {
    const failure = await failureOf(get(url));
    expect(failure.kind).toBe('refused_by_egress');
    expect(failure.message).not.toContain('hunter2');
  });

  it('checks the address that a name leads to', async () => {
    const policy = new EgressPolicy([], () => Promise.resolve([{ address: '169.254.169.254', family: 4 }]));
    const guarded = guardedFetch(policy, { timeoutMs: 1_000, maxResponseBytes: 10 });
    expect((await failureOf(guarded('https://keys.example.com/'))).kind).toBe('refused_by_egress');
  });

  it('fails on a redirect, a too large answer and a late one', async () => {
    const bounded = guardedFetch(loopbackPolicy(), { timeoutMs: 250, maxResponseBytes: 10 });
    const server = await serve((request, response) => {
      if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end();
      if (request.url === '/large') response.end('x'.repeat(11));
    });
    expect((await failureOf(bounded(server.url('/redirect')))).kind).toBe('redirect');
    expect((await failureOf(bounded(server.url('/large')))).kind).toBe('too_large');
    expect((await failureOf(bounded(server.url('/late')))).kind).toBe('timeout');
  });

  it('ends with the reason of the signal', async () => {
    const server = await serve(() => undefined);
    const abort = new AbortController();
    const running = get(server.url('/'), { signal: abort.signal });
    await until(() => server.requests.length === 1);
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await expect(get(server.url('/'), { signal: abort.signal })).rejects.toThrow('enough');
    expect(server.requests).toHaveLength(1);
  });

  it('refuses a method that the gateway does not use', async () => {
    await expect(get('https://api.example.com/', { method: 'HEAD' })).rejects.toThrow(TypeError);
  });

  it('works for the key set reader of jose', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] };
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(jwks));
    });
    const token = await new SignJWT({ sub: 'me' }).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey);
    const keys = createRemoteJWKSet(server.url('/jwks'), { [customFetch]: get });
    expect((await jwtVerify(token, keys)).payload.sub).toBe('me');
  });
});
