import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { json, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const KEY_INVALID = { status: 401, code: 'api_key_invalid', param: null, source: 'gateway' };
const DENIED = { status: 403, code: 'permission_denied', param: null, source: 'gateway' };
const NOT_FOUND = { status: 404, code: 'not_found', param: null, source: 'gateway' };
const HOUR_MS = 3_600_000;

let gateway: TestApp;
let owner: Tenant;

/** A browser that is logged in. */
interface Browser {
  readonly id: string;
  readonly cookie: string;
  readonly csrf: string;
  /** Without the CSRF token. */
  readonly plain: GatewayClient;
  readonly client: GatewayClient;
}

beforeAll(async () => {
  gateway = await startTestApp();
  owner = await addTenant(gateway, 'owner');
});
afterAll(() => gateway.close());

function cookieOf({ headers }: Answer): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

async function logIn(client: GatewayClient): Promise<Browser> {
  const answer = await client.post('/v1/sessions');
  expect(answer.status).toBe(201);
  const cookie = cookieOf(answer);
  const { id, csrf_token: token } = jsonOf(answer);
  const csrf = readString(token, 'csrf_token');
  return {
    id: readString(id, 'id'),
    cookie,
    csrf,
    plain: new GatewayClient(gateway.url, { cookie }),
    client: new GatewayClient(gateway.url, { cookie, 'x-gateway-csrf-token': csrf }),
  };
}

describe('a session', () => {
  it('begins with a key and has its rights, by a cookie that no script can read', async () => {
    const { client: key, id } = await owner.client.createKey({ scopes: ['workspaces.list', 'workspaces.create'] });
    const answer = await key.post('/v1/sessions');
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^tollgate-session=[\w.-]+; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.headers['set-cookie']?.[0]).not.toContain('tg_');
    const browser = await logIn(key);
    expect((await browser.plain.read('/v1/me'))['id']).toBe(id);
    expect((await browser.client.post('/v1/workspaces', { name: 'W', slug: 'by-session' })).status).toBe(201);
    expect(refusalOf(await browser.client.get('/v1/api-keys'))).toEqual(DENIED);
    expect(await browser.plain.read('/v1/sessions/current')).toMatchObject({
      id: browser.id,
      csrf_token: browser.csrf,
    });
  });

  it('has a Secure cookie with the __Host- prefix where the browser came by HTTPS', async () => {
    const behindProxy = await startTestApp({ TRUST_PROXY: '127.0.0.1' }, true);
    try {
      const client = new GatewayClient(behindProxy.url);
      const answer = await client.post('/v1/sessions', undefined, { 'x-forwarded-proto': 'https' });
      expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-tollgate-session=.*; Path=\/; .*; HttpOnly; Secure;/);
      const plain = new GatewayClient(behindProxy.url, { cookie: cookieOf(answer) });
      expect(refusalOf(await plain.get('/v1/me'))).toEqual(KEY_INVALID);
      expect((await plain.get('/v1/me', { 'x-forwarded-proto': 'https' })).status).toBe(200);
    } finally {
      await behindProxy.close();
    }
  });

  it('makes no change without its own CSRF token, and nothing from another site', async () => {
    const browser = await logIn(owner.client);
    const other = await logIn(owner.client);
    const body = { name: 'W', slug: 'forged' };
    expect(refusalOf(await browser.plain.post('/v1/workspaces', body))).toEqual(DENIED);
    for (const csrf of ['', 'x', other.csrf]) {
      const answer = await browser.plain.post('/v1/workspaces', body, { 'x-gateway-csrf-token': csrf });
      expect(refusalOf(answer)).toEqual(DENIED);
    }
    expect(refusalOf(await browser.plain.delete('/v1/sessions/current'))).toEqual(DENIED);
    for (const site of ['cross-site', 'same-site']) {
      expect(refusalOf(await browser.client.get('/v1/me', { 'sec-fetch-site': site }))).toEqual(DENIED);
    }
    expect((await browser.client.get('/v1/me', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await browser.client.post('/v1/workspaces', body)).status).toBe(201);
  });

  it('is refused when its token is forged, changed, or of another gateway', async () => {
    const { cookie } = await logIn(owner.client);
    const [head = '', payload = '', signature = ''] = cookie.split('=')[1]?.split('.') ?? [];
    const none = Buffer.from('{"alg":"none","kid":"2026-11"}').toString('base64url');
    const odd = Buffer.from('{"alg":"HS256","kid":"../../x"}').toString('base64url');
    const tokens = [
      `${none}.${payload}.`,
      `${odd}.${payload}.${signature}`,
      `${head}.${payload}.${signature.slice(0, -2)}AA`,
      `${head}.${payload}`,
      'x',
      '..',
      'x'.repeat(5_000),
    ];
    for (const token of tokens) {
      const client = new GatewayClient(gateway.url, { cookie: `tollgate-session=${token}` });
      expect(refusalOf(await client.get('/v1/me'))).toEqual(KEY_INVALID);
    }
  });

  it('ends after twelve hours, when its key ends, and when its secret is rotated out', async () => {
    const byTime = await logIn(owner.client);
    gateway.clock.advance(12 * HOUR_MS + 1_000);
    expect(refusalOf(await byTime.plain.get('/v1/me'))).toEqual(KEY_INVALID);

    const rotated = await owner.client.createKey({ scopes: ['usage.read'] });
    const old = await logIn(rotated.client);
    await owner.client.post(`/v1/api-keys/${rotated.id}/rotate`, { transition_seconds: 1_800 });
    expect((await old.plain.get('/v1/me')).status).toBe(200);
    gateway.clock.advance(HOUR_MS);
    expect(refusalOf(await old.plain.get('/v1/me'))).toEqual(KEY_INVALID);

    const deleted = await owner.client.createKey({ scopes: ['usage.read'] });
    const orphan = await logIn(deleted.client);
    expect((await orphan.plain.get('/v1/me')).status).toBe(200);
    expect((await owner.client.delete(`/v1/api-keys/${deleted.id}`)).status).toBe(204);
    expect(refusalOf(await orphan.plain.get('/v1/me'))).toEqual(KEY_INVALID);
  });

  it('shows the end of its key or of its rotated secret, where that is earlier', async () => {
    const now = Math.floor(gateway.clock.now().getTime() / 1_000);
    const { client: key, id } = await owner.client.createKey({ scopes: ['usage.read'], expires_at: now + 3_600 });
    expect(jsonOf(await key.post('/v1/sessions'))).toMatchObject({ expires_at: now + 3_600 });
    const browser = await logIn(key);
    const endsAt = async (): Promise<unknown[]> => {
      const own = [await browser.plain.read('/v1/sessions/current'), ...(await key.list('/v1/sessions'))];
      return [...new Set(own.map(({ expires_at: end }) => end))];
    };
    expect(await endsAt()).toEqual([now + 3_600]);
    expect((await owner.client.patch(`/v1/api-keys/${id}`, { expires_at: now + 7_200 })).status).toBe(200);
    expect(await endsAt()).toEqual([now + 7_200]);
    const rotated = await owner.client.post(`/v1/api-keys/${id}/rotate`, { transition_seconds: 1_800 });
    const [end] = await endsAt();
    expect([end, Number(end) - now < 1_900]).toEqual([expect.any(Number), true]);
    gateway.clock.advance(HOUR_MS);
    const fresh = new GatewayClient(gateway.url, { 'x-gateway-api-key': readString(jsonOf(rotated)['key'], 'key') });
    expect(await fresh.list('/v1/sessions')).toEqual([]);
  });

  it('is seen and ended by sessions of the same key only', async () => {
    const mine = await owner.client.createKey({ scopes: ['usage.read'] });
    const others = await owner.client.createKey({ scopes: ['usage.read'] });
    const [first, second, stranger] = [await logIn(mine.client), await logIn(mine.client), await logIn(others.client)];
    const seen = await first.plain.list('/v1/sessions');
    expect(seen.map(({ id, is_current: isCurrent }) => [id, isCurrent])).toEqual([
      [second.id, false],
      [first.id, true],
    ]);
    expect(refusalOf(await stranger.client.get(`/v1/sessions/${first.id}`))).toEqual(NOT_FOUND);
    expect(refusalOf(await stranger.client.delete(`/v1/sessions/${first.id}`))).toEqual(NOT_FOUND);
    expect(refusalOf(await first.client.delete('/v1/sessions/junk'))).toEqual(NOT_FOUND);
    expect((await first.client.delete(`/v1/sessions/${second.id}`)).status).toBe(204);
    expect(refusalOf(await second.plain.get('/v1/me'))).toEqual(KEY_INVALID);
    const out = await first.client.delete('/v1/sessions/current');
    expect(out.headers['set-cookie']?.[0]).toContain('Expires=Thu, 01 Jan 1970');
    expect(refusalOf(await first.plain.get('/v1/me'))).toEqual(KEY_INVALID);
  });

  it('begins no other session, and a key without a session has no current one', async () => {
    const browser = await logIn(owner.client);
    expect(refusalOf(await browser.client.post('/v1/sessions'))).toEqual(KEY_INVALID);
    expect(refusalOf(await owner.client.get('/v1/sessions/current'))).toEqual(NOT_FOUND);
    const nobody = new GatewayClient(gateway.url, {});
    expect(refusalOf(await nobody.post('/v1/sessions'))).toEqual(KEY_INVALID);
  });

  it('counts against the rate limit of its key', async () => {
    const limits = [{ type: 'requests', unit: 'rpm', value: 2 }];
    const { client } = await owner.client.createKey({ scopes: ['usage.read'], rate_limits: limits });
    const browser = await logIn(client);
    expect((await browser.plain.get('/v1/me')).status).toBe(200);
    expect((await browser.plain.get('/v1/me')).status).toBe(429);
  });

  it('never reaches a provider, an MCP server or the log', async () => {
    const provider = await startFakeProvider();
    try {
      provider.replyWith(json({ results: [{ index: 0, relevance_score: 1 }] }));
      await owner.client.create('/v1/virtual-keys', {
        name: 'Fake',
        slug: 'fake',
        provider: 'cohere',
        key: 'secret',
        config: { base_url: provider.url },
      });
      const browser = await logIn(owner.client);
      const body = { model: '@fake/rerank-v3.5', query: 'q', documents: ['a'] };
      expect((await browser.client.post('/v1/rerank', body)).status).toBe(200);
      expect(JSON.stringify(provider.calls.map(({ headers }) => headers))).not.toContain('cookie');
      await owner.client.create('/v1/mcp-servers', { name: 'M', slug: 'm-server', url: provider.url });
      expect((await browser.client.post('/m-server/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(401);
      expect(gateway.log()).not.toContain(browser.cookie.split('.')[2]);
      expect(gateway.log()).not.toContain(browser.csrf);
    } finally {
      await provider.close();
    }
  });
});
