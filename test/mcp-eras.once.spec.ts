// The test of an MCP server detects which clients the server supports: from its answers, never from missing ones.
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { type LegacyMcpServer, startLegacyMcpServer } from './support/mcp-legacy-server.js';
import {
  type ModernMcpServer,
  type ModernMcpServerOptions,
  startModernMcpServer,
} from './support/mcp-modern-server.js';
import { events, json, large, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

let gateway: TestApp;
let admin: GatewayClient;
let raw: RawMcpServer;
let sdk: McpSdkServer;
let legacy: LegacyMcpServer;
const modernServers: ModernMcpServer[] = [];

beforeAll(async () => {
  [gateway, raw, sdk, legacy] = await Promise.all([
    startTestApp({}),
    startRawMcpServer(),
    startMcpServer(),
    startLegacyMcpServer(),
  ]);
  admin = new GatewayClient(gateway.url);
});

afterEach(() => raw.forget());

afterAll(async () => {
  await gateway.close();
  await Promise.all([raw, sdk, legacy, ...modernServers].map((server) => server.close()));
});

async function modern(options: ModernMcpServerOptions = {}): Promise<ModernMcpServer> {
  const server = await startModernMcpServer(options);
  modernServers.push(server);
  return server;
}

async function register(url: URL, fields: object = {}): Promise<{ readonly path: string; readonly url: string }> {
  const slug = `s-${randomUUID()}`;
  await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: url.href, ...fields });
  return { path: `/v1/mcp-servers/${slug}`, url: `${gateway.url}/${slug}/mcp` };
}

async function tested(url: URL, fields: object = {}): Promise<Readonly<Record<string, unknown>>> {
  const { path } = await register(url, fields);
  return jsonOf(await admin.post(`${path}/test`));
}

/** The JSON-RPC methods that reached the raw double. */
function asked(): readonly unknown[] {
  return raw.received.map(({ method, body }) =>
    method === 'POST' ? Object(JSON.parse(body.toString())).method : method,
  );
}

describe('an endless answer', () => {
  it.each<[string, string, object]>([
    ['in JSON', 'application/json', {}],
    ['in an event stream', 'text/event-stream', {}],
    ['on the stream of the older transport', 'text/event-stream', { transport: 'sse' }],
  ])('stops reading an endless answer: %s', async (_how, type, fields) => {
    let written = 0;
    raw.answerWith((request, response) => {
      const isDiscovery = raw.received.at(-1)?.body.includes('server/discover');
      if (isDiscovery === true) return plain(400)(request, response);
      large(1e9, (total) => (written = total), undefined, type)(request, response);
    });
    expect(await tested(raw.endpoint, fields)).toMatchObject({ ok: false, error: 'provider_invalid_response' });
    expect(written).toBeLessThan(50_000_000);
    await eventually(() => raw.open.size === 0);
  });
});

describe('the test of a server without handshake', () => {
  it.each<[string, ModernMcpServerOptions]>([
    ['in JSON', {}],
    ['in event streams that stay open', { streams: true }],
    ['with its name where drafts had it', { draft: true }],
  ])('reports revision, name and all pages of tools of a modern server: %s', async (_how, options) => {
    const server = await modern(options);
    const { path } = await register(server.endpoint);
    expect(jsonOf(await admin.post(`${path}/test`))).toEqual({
      ok: true,
      latency_ms: expect.any(Number),
      era: 'modern',
      protocol_version: '2026-07-28',
      protocol_versions: ['2026-07-28'],
      server: { name: 'modern', version: '2.0.0' },
      tools: 3,
    });
    expect(server.methods).toEqual(['server/discover', 'tools/list', 'tools/list', 'initialize']);
    expect((await admin.list(`${path}/tools`)).map(({ name }) => name)).toEqual(['create', 'delete', 'search']);
  });

  it('sends the registered headers to a modern server and forwards its tools', async () => {
    const server = await modern();
    const { url } = await register(server.endpoint, { headers: { 'X-Key': 'static-secret-0123456789' } });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await send(url, {
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
        'x-gateway-api-key': ADMIN_KEY,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
    });
    expect(answer.status).toBe(200);
    raw.answerWith(plain(401));
    await tested(raw.endpoint, { headers: { 'X-Key': 'static-secret-0123456789' } });
    expect(raw.received[0]?.rawHeaders).toContain('static-secret-0123456789');
  });
});

describe('the test of a server of both eras', () => {
  it('reports a server of both eras and ends the session of the test', async () => {
    const server = await modern({ both: true });
    expect(await tested(server.endpoint)).toMatchObject({
      ok: true,
      era: 'both',
      protocol_version: '2026-07-28',
      protocol_versions: ['2026-07-28', '2025-11-25', '2025-06-18'],
      server: { name: 'dual' },
      tools: 3,
    });
    expect(server.methods.slice(-2)).toEqual(['initialize', 'DELETE']);
    expect(server.sessions.size).toBe(0);
  });

  it('does not end a session whose id is empty', async () => {
    raw.answerWith((request, response) => {
      const result = { supportedVersions: ['2026-07-28'], protocolVersion: '2025-11-25', capabilities: {} };
      json({ jsonrpc: '2.0', id: 1, result }, 200, { 'mcp-session-id': '' })(request, response);
    });
    expect(await tested(raw.endpoint)).toMatchObject({ ok: true, era: 'both' });
    expect(asked()).toEqual(['server/discover', 'initialize']);
  });
});

describe('the test of a server with handshake', () => {
  it('reports the official legacy server as legacy', async () => {
    const before = sdk.sessions.size;
    expect(await tested(sdk.endpoint)).toMatchObject({
      ok: true,
      era: 'legacy',
      protocol_version: '2025-11-25',
      protocol_versions: ['2025-11-25'],
      server: { name: 'fixture' },
    });
    expect(sdk.sessions.size).toBe(before);
  });

  it('reports a server on the SSE transport as legacy', async () => {
    expect(await tested(legacy.endpoint, { transport: 'sse' })).toMatchObject({
      ok: true,
      era: 'legacy',
      protocol_version: '2025-11-25',
      protocol_versions: ['2025-11-25'],
    });
  });

  const UNKNOWN = { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'Method not found' } };
  const handshake: RequestListener = json({
    jsonrpc: '2.0',
    id: 0,
    result: { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'old', version: '1' } },
  });

  it.each<[string, RequestListener]>([
    ['200 and an error of JSON-RPC', json(UNKNOWN)],
    ['404 and an error of JSON-RPC', json(UNKNOWN, 404)],
    ['500 and an error of JSON-RPC', json({ jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'x' } }, 500)],
    ['400 and text', plain(400, { 'content-type': 'text/plain' }, 'no session')],
    ['400 and nothing', plain(400)],
    ['404 and a page', plain(404, { 'content-type': 'text/html' }, '<html>')],
    ['405', plain(405)],
    ['406', plain(406)],
    ['202 and nothing', plain(202)],
    ['an error in an event stream', events([`data: ${JSON.stringify(UNKNOWN)}\n\n`])],
    ['a result that describes nothing', json({ jsonrpc: '2.0', id: 1, result: {} })],
    ['a result without revisions', json({ jsonrpc: '2.0', id: 1, result: { supportedVersions: [] } })],
    [
      'only older revisions',
      json(
        { jsonrpc: '2.0', id: 1, error: { code: -32_022, message: 'no', data: { supported: ['2025-11-25'] } } },
        400,
      ),
    ],
  ])('sends a handshake when the server answers the discovery with %s', async (_what, refusal) => {
    raw.answerWith((request, response) => {
      const method = asked().at(-1);
      if (method === 'server/discover') return refusal(request, response);
      if (method === 'initialize') return handshake(request, response);
      return plain(method === 'GET' ? 405 : 202)(request, response);
    });
    expect(await tested(raw.endpoint)).toMatchObject({
      ok: true,
      era: 'legacy',
      protocol_version: '2025-03-26',
      server: { name: 'old' },
      tools: 0,
    });
    expect(asked().slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });
});

describe('the test of a server that shows no era', () => {
  const LATER = { code: -32_022, message: 'no', data: { supported: ['2027-01-01'] } };

  it.each<[string, RequestListener, string, string | undefined]>([
    ['401', plain(401, { 'www-authenticate': 'Bearer' }), 'provider_credential_rejected', 'http_401'],
    [
      '403',
      json({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'x' } }, 403),
      'provider_credential_rejected',
      'http_403',
    ],
    ['429', plain(429, { 'retry-after': '5' }), 'provider_rejected', 'http_429'],
    ['500 and a page', plain(500, { 'content-type': 'text/html' }, '<html>'), 'provider_failed', 'http_500'],
    ['503', plain(503), 'provider_failed', 'http_503'],
    ['a redirect', plain(302, { location: 'https://elsewhere.example.com/' }), 'provider_failed', 'redirect'],
    [
      'a page',
      plain(200, { 'content-type': 'text/html' }, '<html>log in</html>'),
      'provider_invalid_response',
      'invalid_response',
    ],
    [
      'JSON that is broken',
      plain(200, { 'content-type': 'application/json' }, '{"jsonrpc":'),
      'provider_invalid_response',
      'invalid_response',
    ],
    ['JSON that is not JSON-RPC', json({ tools: [] }), 'provider_invalid_response', 'invalid_response'],
    [
      'the answer to another request',
      json({ jsonrpc: '2.0', id: 99, result: {} }),
      'provider_invalid_response',
      'invalid_response',
    ],
    [
      'a stream that ends without a response',
      events([': nothing\n\n']),
      'provider_invalid_response',
      'invalid_response',
    ],
    [
      'headers that do not match',
      json({ jsonrpc: '2.0', id: 1, error: { code: -32_020 } }, 400),
      'provider_rejected',
      undefined,
    ],
    ['only later revisions', json({ jsonrpc: '2.0', id: 1, error: LATER }, 400), 'provider_rejected', undefined],
  ])('fails the server test without a handshake: %s', async (_what, listener, error, reason) => {
    raw.answerWith(listener);
    expect(await tested(raw.endpoint)).toEqual({ ok: false, latency_ms: expect.any(Number), error, reason });
    expect(asked()).toEqual(['server/discover']);
  });

  it.each([
    [404, 'provider_rejected'],
    [405, 'provider_rejected'],
  ])('fails the server test when the handshake gets %i as well', async (status, error) => {
    const reason = `http_${status}`;
    raw.answerWith(plain(status));
    expect(await tested(raw.endpoint)).toEqual({ ok: false, latency_ms: expect.any(Number), error, reason });
    expect(asked().slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });

  it('fails the server test when a modern server does not list its announced tools', async () => {
    raw.answerWith((request, response) => {
      const result = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      const isDiscovery = asked().at(-1) === 'server/discover';
      json({ jsonrpc: '2.0', id: 1, result: isDiscovery ? result : { tools: 'none' } })(request, response);
    });
    expect(await tested(raw.endpoint)).toMatchObject({ ok: false, error: 'provider_invalid_response' });
  });

  it('fails the server test when the connection is refused', async () => {
    expect(await tested(new URL('http://127.0.0.1:1/mcp'))).toMatchObject({ ok: false, error: 'provider_failed' });
  });
});
