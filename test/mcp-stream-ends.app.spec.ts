// A stream ends soon after its authorization: the key or token, the server, the caller's rights.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ApiKeyStore } from '../src/api-keys/api-key.store.js';
import { McpAuthentication } from '../src/identity/authenticators/mcp-authentication.js';
import { McpProxy } from '../src/mcp/proxy/mcp-proxy.js';
import { EventReader } from './support/event-reader.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } });
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const KEY = { type: 'service', scopes: ['mcp.invoke'] };
/** The documented limit. */
const WITHIN_MS = 10_000;

type Headers = Readonly<Record<string, string>>;

let gateway: TestApp;
let admin: GatewayClient;
let raw: RawMcpServer;
const opened: EventReader[] = [];

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startTestApp({ LOG_LEVEL: 'error' }), startRawMcpServer()]);
  admin = new GatewayClient(gateway.url);
  raw.answerWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: /messages\n\n');
  });
});

afterEach(() => {
  for (const stream of opened.splice(0)) stream.cut();
  jest.restoreAllMocks();
});

afterAll(async () => {
  await gateway.close();
  await raw.close();
});

async function register(fields: object = {}): Promise<{ readonly origin: string; readonly path: string }> {
  const slug = `s-${randomUUID()}`;
  await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: raw.endpoint.href, ...fields });
  return { origin: `${gateway.url}/${slug}`, path: `/v1/mcp-servers/${slug}` };
}

/** A stream on which an event has arrived. */
async function open(url: string, headers: Headers, method = 'GET'): Promise<EventReader> {
  const stream = new EventReader(url, {
    method,
    headers: { ...HEADERS, ...headers },
    ...(method === 'POST' ? { body: CALL } : {}),
  });
  opened.push(stream);
  await eventually(() => stream.events.length > 0);
  return stream;
}

async function statusOf(url: string, headers: Headers): Promise<number> {
  return (await send(url, { method: 'GET', headers: { ...HEADERS, ...headers } })).status;
}

describe('the end of a stream', () => {
  it('ends streams on every transport when their key is deleted', async () => {
    const { id, key } = await admin.createKey(KEY);
    const [today, older] = await Promise.all([register(), register({ transport: 'sse' })]);
    const headers = { 'x-gateway-api-key': key };
    const streams = await Promise.all([
      open(`${today.origin}/mcp`, headers),
      open(`${today.origin}/mcp`, headers, 'POST'),
      open(`${older.origin}/sse`, headers),
    ]);
    const other = await open(`${today.origin}/mcp`, { 'x-gateway-api-key': ADMIN_KEY });
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBeLessThan(300);
    await eventually(() => streams.every(({ hasEnded }) => hasEnded), WITHIN_MS);
    expect(streams.map(({ isWhole }) => isWhole)).toEqual([true, true, true]);
    expect(other.hasEnded).toBe(false);
    expect(await statusOf(`${today.origin}/mcp`, headers)).toBe(401);
    await eventually(() => raw.received.filter(({ closedEarlyAt }) => closedEarlyAt !== undefined).length === 3);
  });

  it('ends a stream when its key loses the scope', async () => {
    const { id, key } = await admin.createKey(KEY);
    const { origin } = await register();
    const stream = await open(`${origin}/mcp`, { 'x-gateway-api-key': key });
    await admin.patch(`/v1/api-keys/${id}`, { scopes: ['workspaces.list'] });
    await eventually(() => stream.hasEnded, WITHIN_MS);
    expect(await statusOf(`${origin}/mcp`, { 'x-gateway-api-key': key })).toBe(403);
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is disabled', (path) => admin.patch(path, { enabled: false })],
    ['is deleted', (path) => admin.delete(path)],
    [
      'is replaced by another',
      async (path) => {
        await admin.delete(path);
        const slug = path.split('/').at(-1);
        await admin.create('/v1/mcp-servers', { name: 'Another', slug, url: raw.endpoint.href });
      },
    ],
  ])('ends a stream when its server %s', async (_what, change) => {
    const { origin, path } = await register();
    const stream = await open(`${origin}/mcp`, { 'x-gateway-api-key': ADMIN_KEY });
    await change(path);
    await eventually(() => stream.hasEnded, WITHIN_MS);
    expect(stream.isWhole).toBe(true);
  });

  it("ends a stream when the user's token expires, and not earlier", async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const keys = await startRawMcpServer();
    keys.answerWith(json({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] }));
    const seconds = Math.floor(gateway.clock.now().getTime() / 1000);
    const sign = (exp: number): Promise<string> =>
      new SignJWT({ sub: 'u', exp }).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
    const { origin } = await register({
      jwt_validation: { jwksUri: keys.url('/jwks').href, requiredClaims: ['sub'], clock_tolerance_seconds: 0 },
    });
    const [short, long] = await Promise.all(
      [await sign(seconds + 600), await sign(seconds + 6_000)].map((token) =>
        open(`${origin}/mcp`, { authorization: `Bearer ${token}` }),
      ),
    );
    gateway.clock.advance(600_000);
    await eventually(() => short?.hasEnded === true, 5_000);
    expect([short?.isWhole, long?.hasEnded]).toEqual([true, false]);
    await keys.close();
  });
});

describe('a gateway that shuts down', () => {
  it('finishes a call that is still arriving, and accepts no others', async () => {
    const stopping = await startTestApp({ LOG_LEVEL: 'error' }, true);
    const { origin } = await register();
    const url = origin.replace(gateway.url, stopping.url);
    const entered = jest.spyOn(stopping.app.get(McpAuthentication, { strict: false }), 'callerOf');
    const headers = { ...HEADERS, 'x-gateway-api-key': ADMIN_KEY, 'content-length': CALL.length };
    const asking = request(`${url}/mcp`, { method: 'POST', headers });
    const answered = once(asking, 'response');
    asking.write(CALL.slice(0, 10));
    await eventually(() => entered.mock.calls.length === 1);
    const proxy = stopping.app.get(McpProxy, { strict: false });
    const closed = proxy.close(10_000);
    asking.end(CALL.slice(10));
    const [answer]: IncomingMessage[] = await answered;
    expect(answer?.statusCode).toBe(200);
    answer?.destroy();
    await closed;
    expect(
      (await send(`${url}/mcp`, { headers: { ...HEADERS, 'x-gateway-api-key': ADMIN_KEY }, body: CALL })).status,
    ).toBe(503);
    await stopping.close();
  });
});

describe('a stream that stays authorized', () => {
  it('keeps a stream open over many checks with few queries and no rate-limited requests', async () => {
    const { key } = await admin.createKey({ ...KEY, rate_limits: [{ type: 'requests', unit: 'rph', value: 8 }] });
    const { origin } = await register();
    const headers = { 'x-gateway-api-key': key };
    const lookUps = jest.spyOn(gateway.app.get(ApiKeyStore, { strict: false }), 'find');
    const looks = jest.spyOn(gateway.app.get(McpAuthentication, { strict: false }), 'callerOf');
    const streams: EventReader[] = [];
    for (let each = 0; each < 7; each += 1) streams.push(await open(`${origin}/mcp`, headers));
    await eventually(() => looks.mock.calls.length >= 4 * 7, 20_000);
    expect(streams.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    // Within about ten seconds, one lookup of the key served all of them.
    expect(lookUps.mock.calls.length).toBeLessThanOrEqual(4);
    expect([await open(`${origin}/mcp`, headers), await statusOf(`${origin}/mcp`, headers)]).toMatchObject([{}, 429]);
  });
});
