// /metrics and /docs behind a token, a key, or a port of their own.
import type { Server } from 'node:http';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listenForMetrics } from '../src/server/metrics-server.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const TOKEN = 'a-token-of-prometheus';

function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(url, { method: 'GET', headers });
}

/** A fast machine sends more than a hundred between two looks of the server at its connections. */
const MOST_MIB = 500;

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = Object(server.address());
  await new Promise((closed) => server.close(closed));
  return String(port);
}

describe('a gateway with METRICS_TOKEN and DOCS=key', () => {
  let gateway: TestApp;

  beforeAll(async () => {
    gateway = await startTestApp({ METRICS_TOKEN: TOKEN, DOCS: 'key' });
  });
  afterAll(() => gateway.close());

  it('gives metrics to who sends the token', async () => {
    const { status, text } = await get(`${gateway.url}/metrics`, { authorization: `Bearer ${TOKEN}` });
    expect(status).toBe(200);
    expect(text).toMatch(/^tollgate_build_info\{version="[\d.]+",node="v[\d.]+"\} 1$/m);
  });

  it.each([undefined, 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${ADMIN_KEY}`])(
    'refuses metrics to who sends %j',
    async (authorization) => {
      const answer = await get(`${gateway.url}/metrics`, authorization === undefined ? {} : { authorization });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="tollgate-metrics"']);
      expect(jsonOf(answer)).toMatchObject({ error: { code: 'token_invalid' } });
    },
  );

  it.each([
    '/docs',
    '/docs/',
    '/docs/index.html',
    '/docs/openapi.json',
    '/docs/swagger-ui-init.js',
    '/docs/swagger-ui.css',
  ])('gives %s to callers with a key only', async (path) => {
    const refused = await get(gateway.url + path);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Basic realm="tollgate"']);
    const basic = (key: string): string => `Basic ${Buffer.from(`me:${key}`).toString('base64')}`;
    expect((await get(gateway.url + path, { authorization: basic(`${ADMIN_KEY}x`) })).status).toBe(401);
    const given: readonly Readonly<Record<string, string>>[] = [
      { 'x-gateway-api-key': ADMIN_KEY },
      { authorization: basic(ADMIN_KEY) },
    ];
    for (const headers of given) expect((await get(gateway.url + path, headers)).status).not.toBe(401);
  });
});

describe('a gateway with METRICS_PORT and DOCS=metrics_port', () => {
  let gateway: TestApp;
  let server: Server | undefined;
  let inside: string;

  beforeAll(async () => {
    const port = await freePort();
    gateway = await startTestApp({ METRICS_PORT: port, DOCS: 'metrics_port' });
    server = await listenForMetrics(gateway.app);
    inside = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await gateway.close();
  });

  it('serves metrics, documentation and probes there', async () => {
    for (const path of ['/metrics', '/docs', '/docs/swagger-ui.css', '/health/live', '/health/ready']) {
      expect([path, (await get(inside + path)).status]).toEqual([path, 200]);
    }
  });

  it('serves nothing else there, whatever key is sent', async () => {
    for (const path of [
      '/v1/workspaces',
      '/server/mcp',
      '/.well-known/jwks.json',
      '/docs/../v1/workspaces',
      '//metrics',
    ]) {
      const answer = await get(inside + path, { 'x-gateway-api-key': ADMIN_KEY });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  it('serves neither metrics nor documentation at the other port', async () => {
    for (const path of ['/metrics', '/docs', '/docs/openapi.json', '/docs/swagger-ui.css']) {
      const answer = await get(gateway.url + path, { 'x-gateway-api-key': ADMIN_KEY });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await get(`${gateway.url}/health/live`)).status).toBe(200);
  });
});

it('ends a connection whose body goes on without end, at both ports', async () => {
  const port = await freePort();
  const gateway = await startTestApp({ METRICS_PORT: port });
  const server = await listenForMetrics(gateway.app);
  for (const url of [gateway.url, `http://127.0.0.1:${port}`]) {
    const head = 'GET /health/live HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
    expect(await sentUntilClosed(url, head)).toBeLessThan(MOST_MIB);
  }
  server?.close();
  await gateway.close();
});

/** MiB that a server took after a head, of chunks without end. */
async function sentUntilClosed(url: string, head: string): Promise<number> {
  const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(head));
  let sent = 0;
  const pump = (): void => {
    if (socket.destroyed || sent >= MOST_MIB) return void socket.destroy();
    sent += 1;
    socket.write(chunk, pump);
  };
  socket.on('error', () => undefined).once('data', pump);
  await new Promise<void>((closed) => socket.once('close', () => closed()));
  return sent;
}

describe('a gateway with DOCS=off', () => {
  it('has no documentation', async () => {
    const gateway = await startTestApp({ DOCS: 'off' });
    for (const path of ['/docs', '/docs/openapi.json']) {
      expect((await get(gateway.url + path, { 'x-gateway-api-key': ADMIN_KEY })).status).toBe(404);
    }
    expect((await get(`${gateway.url}/metrics`)).status).toBe(200);
    await gateway.close();
  });
});
