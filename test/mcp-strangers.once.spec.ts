// What a client without a key learns at an MCP address, and how it finds a way in.
import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { registerClient } from '@modelcontextprotocol/sdk/client/auth.js';
import { SignJWT } from 'jose';
import { type Loopback, startHttp } from '../src/upstream/__fixtures__/loopback.js';
import { forEvery } from './support/for-every.js';
import { GatewayClient } from './support/gateway-client.js';
import { json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ORIGIN = 'https://mcp.example.com';
const ISSUER = 'https://login.example.com';
const COMPANY = 'https://company.example.com';
const METADATA = '/.well-known/oauth-protected-resource';
const unsigned = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

let provider: Loopback;
let raw: RawMcpServer;
/** With an authorization server, and without one. */
let gateway: TestApp;
let keysOnly: TestApp;

beforeAll(async () => {
  provider = await startHttp(json({ keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] }));
  raw = await startRawMcpServer();
  const jwksUri = provider.url('/jwks').href;
  gateway = await startTestApp({
    MCP_PUBLIC_URL: ORIGIN,
    MCP_OAUTH_ISSUER: ISSUER,
    MCP_OAUTH_JWKS_URI: jwksUri,
    MCP_OAUTH_SCOPES: 'mcp',
  });
  const admin = new GatewayClient(gateway.url);
  const server = { name: 'A server', url: raw.endpoint.href };
  await admin.create('/v1/mcp-servers', { ...server, slug: 'known' });
  await admin.create('/v1/mcp-servers', { ...server, slug: 'disabled', enabled: false });
  const company = { jwksUri, issuer: COMPANY };
  await admin.create('/v1/mcp-servers', { ...server, slug: 'company', jwt_validation: company });
  await admin.create('/v1/mcp-servers', {
    ...server,
    slug: 'required',
    jwt_validation: { ...company, required: true },
  });
  await admin.create('/v1/mcp-servers', {
    ...server,
    slug: 'claims',
    jwt_validation: { jwksUri },
    user_identity_forwarding: { method: 'claims_header', include_claims: ['sub', 'note'] },
  });
  keysOnly = await startTestApp({}, true);
});

afterAll(async () => {
  await Promise.all([gateway.close(), keysOnly.close()]);
  await Promise.all([provider.close(), raw.close()]);
});

function post(path: string, headers: Readonly<Record<string, string>> = {}, at = gateway): Promise<Answer> {
  const { host } = new URL(at === gateway ? ORIGIN : at.url);
  return send(at.url + path, { headers: { host, 'content-type': 'application/json', ...headers }, body: BODY });
}

/** An answer with the name of the server taken out. */
async function facts(answer: Promise<Answer>, slug: string): Promise<unknown> {
  const { status, text, headers } = await answer;
  const said = { status, text, challenge: headers['www-authenticate'], cached: headers['cache-control'] };
  return JSON.parse(JSON.stringify(said).replaceAll(new RegExp(`(?<!well-)${slug}`, 'g'), 'SLUG'));
}

describe('a caller without a key', () => {
  const STRANGERS = ['unknown', 'disabled', 'company', 'required'];

  it.each([METADATA, `${METADATA}/default`])('reads the same metadata for every name below %s', async (base) => {
    const read = (slug: string, endpoint: string): Promise<unknown> =>
      facts(send(`${gateway.url}${base}/${slug}/${endpoint}`, { method: 'GET' }), slug);
    for (const endpoint of ['mcp', 'sse']) {
      const known = await read('known', endpoint);
      expect(known).toMatchObject({ status: 200, text: expect.stringContaining(ISSUER) });
      for (const slug of STRANGERS) expect(await read(slug, endpoint)).toEqual(known);
    }
    expect(await facts(send(`${gateway.url}${base}/no.slug/mcp`, { method: 'GET' }), 'no.slug')).toMatchObject({
      status: 404,
    });
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['no credential', {}],
    ['a token of no issuer', { authorization: 'Bearer abc.def.ghi' }],
    [
      'an old token of a provider',
      { authorization: `Bearer ${unsigned({ alg: 'RS256' })}.${unsigned({ iss: COMPANY, exp: 1 })}.c2ln` },
    ],
    ['another scheme', { authorization: 'Basic abc' }],
    ['a key that does not exist', { 'x-gateway-api-key': 'tg_nothing' }],
  ])('gets the same refusal for every name with %s', async (_what, headers) => {
    const refusal = (slug: string): Promise<unknown> => facts(post(`/${slug}/mcp`, headers), slug);
    const known = await refusal('known');
    expect(known).toMatchObject({ status: 401, challenge: expect.stringContaining(`${METADATA}/SLUG/mcp`) });
    for (const slug of STRANGERS) expect(await refusal(slug)).toEqual(known);
  });

  it('finds no metadata and no challenge to follow where there is nowhere to log in', async () => {
    for (const slug of ['known', ...STRANGERS]) {
      expect((await send(`${keysOnly.url}${METADATA}/${slug}/mcp`, { method: 'GET' })).status).toBe(404);
      const { headers } = await post(`/${slug}/mcp`, {}, keysOnly);
      expect(headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    }
  });

  it('gets 404 with a valid token for a name that no server has', async () => {
    const token = await tokenFor('unknown', { scope: 'mcp' });
    expect((await post('/unknown/mcp', { authorization: `Bearer ${token}` })).status).toBe(404);
  });
});

describe('a caller with a key', () => {
  it('learns where to log in at a server that requires tokens of its own provider', async () => {
    const refused = await post('/required/mcp', { 'x-gateway-api-key': ADMIN_KEY });
    expect(refused.status).toBe(401);
    const address = /resource_metadata="([^"]*)"/.exec(String(refused.headers['www-authenticate']))?.[1] ?? '';
    const { pathname, search } = new URL(address);
    expect(pathname).toBe(`${METADATA}/required/mcp`);
    const page = await send(gateway.url + pathname + search, { method: 'GET' });
    expect(jsonOf(page)).toMatchObject({ resource: `${ORIGIN}/required/mcp`, authorization_servers: [COMPANY] });
  });

  it('does not learn that from a server which its key may not use', async () => {
    const { key } = await new GatewayClient(gateway.url).createKey({
      scopes: ['mcp.invoke'],
      allowed_mcp_servers: ['known'],
    });
    const presented = { 'x-gateway-api-key': key };
    const unknown = await facts(post('/unknown/mcp', presented), 'unknown');
    expect(unknown).toMatchObject({ status: 404 });
    expect(await facts(post('/required/mcp', presented), 'required')).toEqual(unknown);
  });
});

async function tokenFor(slug: string, claims: object): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256' })
    .setSubject('alice')
    .setIssuer(ISSUER)
    .setAudience(`${ORIGIN}/${slug}/mcp`)
    .setExpirationTime(Math.floor(gateway.clock.now().getTime() / 1_000) + 3_600)
    .sign(privateKey);
}

describe('a claim that is too large for a header', () => {
  it.each([
    [6, 200, undefined],
    [9, 502, 'identity_forwarding_failed'],
  ])('of %d KiB in a token of a user gets %d', async (kib, status, code) => {
    raw.forget();
    const token = await tokenFor('claims', { note: 'x'.repeat(kib * 1_024) });
    const answer = await post('/claims/mcp', { authorization: `Bearer ${token}`, 'x-gateway-api-key': ADMIN_KEY });
    expect([answer.status, Object(jsonOf(answer)['error']).data?.code]).toEqual([status, code]);
    expect(raw.received).toHaveLength(status === 200 ? 1 : 0);
  });
});

describe('a page in front of a server', () => {
  it('is an error of the server for the client', async () => {
    raw.answerWith(plain(200, { 'content-type': 'text/html' }, '<html>Log in</html>'));
    const answer = await post('/known/mcp', { 'x-gateway-api-key': ADMIN_KEY });
    expect(answer.status).toBe(502);
    expect(jsonOf(answer)).toMatchObject({ id: 1, error: { data: { code: 'provider_invalid_response' } } });
    expect(answer.text).toContain('text/html');
    expect(answer.text).not.toContain('Log in</html>');
  });

  const PAGE = '<!doctype html><title>Log in</title>';

  it.each<readonly [string, RequestListener]>([
    ['JSON', plain(200, { 'content-type': 'application/json' }, PAGE)],
    [
      'JSON, compressed',
      plain(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(PAGE)),
    ],
    ['an event stream', plain(200, { 'content-type': 'text/event-stream' }, PAGE)],
    ['JSON without a body', plain(200, { 'content-type': 'application/json' }, '')],
    ['an event stream without events', plain(200, { 'content-type': 'text/event-stream' }, '')],
    ['nothing', plain(200, {}, '')],
  ])('is an error of the server where its type says %s', async (_what, listener) => {
    raw.answerWith(listener);
    const answer = await post('/known/mcp', { 'x-gateway-api-key': ADMIN_KEY });
    expect(answer.status).toBe(502);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(jsonOf(answer)).toMatchObject({ id: 1, error: { data: { code: 'provider_invalid_response' } } });
  });
});

describe('the addresses of an authorization server', () => {
  const ADDRESSES = [
    '/register',
    '/token',
    '/authorize',
    '/revoke',
    '/introspect',
    '/userinfo',
    '/par',
    '/device_authorization',
    '/oauth/token',
    '/oauth/v2/authorize',
  ];
  const SENTENCE = { error: 'invalid_request', error_description: expect.stringContaining('x-gateway-api-key') };

  it.each(['POST', 'GET'])('say in the form of OAuth how to connect, to %s', (method) =>
    forEvery(
      ADDRESSES.map((path) => [path, path] as const),
      async (path) => {
        const answer = await send(keysOnly.url + path, { method });
        expect([answer.status, jsonOf(answer)]).toEqual([400, SENTENCE]);
        expect(answer.headers['access-control-allow-origin']).toBe('*');
        expect(jsonOf(await send(gateway.url + path, { method }))['error_description']).toContain(ISSUER);
      },
    ),
  );

  it('have no metadata, which makes clients go on', () =>
    forEvery(
      ['oauth-authorization-server', 'openid-configuration/known/mcp'].map((name) => [name, name] as const),
      async (name) => {
        const answer = await send(`${keysOnly.url}/.well-known/${name}`, { method: 'GET' });
        expect([answer.status, jsonOf(answer)]).toEqual([404, SENTENCE]);
        expect(answer.headers['access-control-allow-origin']).toBe('*');
      },
    ));

  it('take a form as clients send it', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await send(`${keysOnly.url}/revoke`, { headers, body: 'token=x' });
    expect([answer.status, jsonOf(answer)]).toEqual([400, SENTENCE]);
  });

  it('let the official client print the sentence', async () => {
    const clientMetadata = { redirect_uris: ['http://localhost/callback'], client_name: 'A client' };
    await expect(registerClient(keysOnly.url, { clientMetadata })).rejects.toThrow(
      /^This gateway has no authorization/,
    );
  });

  it('let pages of every origin read the sentence', async () => {
    const { status, headers } = await send(`${keysOnly.url}/register`, { method: 'OPTIONS' });
    expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
  });
});
