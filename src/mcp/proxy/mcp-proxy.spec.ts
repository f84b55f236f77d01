import { gzipSync } from 'node:zlib';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import {
  brokenEvents,
  events,
  json,
  large,
  plain,
  silentEvents,
  startRawMcpServer,
  type RawMcpServer,
} from '../../../test/support/mcp-raw-server.js';
import { jsonOf, send, type Answer, type Message } from '../../../test/support/send.js';
import { closedPort, startTcp } from '../../upstream/__fixtures__/loopback.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { startProxying, targetAt, type ProxyingOptions, type ProxyingServer } from './__fixtures__/proxying.js';
import type { McpHooks, McpTarget } from './mcp-proxy.types.js';

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}';
const JSON_HEADERS = { 'content-type': 'application/json' };
/** Short, so that `answerIdleMs` of the test decides. */
const QUICK = { timeouts: { firstByteMs: 300 } };

let server: RawMcpServer;
const opened: { close(): Promise<void> }[] = [];

async function start(changes: Partial<McpTarget> = {}, options: ProxyingOptions = {}): Promise<ProxyingServer> {
  const gateway = await startProxying(targetAt(server.endpoint, changes), options);
  opened.push(gateway);
  return gateway;
}

function post(gateway: ProxyingServer, message: Message = {}): Promise<Answer> {
  return send(gateway.endpoint.href, { headers: JSON_HEADERS, body: CALL, ...message });
}

/** Returns the answer without reading its body. */
function open(gateway: ProxyingServer, method = 'GET', body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = method === 'POST' ? JSON_HEADERS : { accept: 'text/event-stream' };
    const asking = httpRequest(gateway.endpoint, { method, headers, agent: false });
    asking.on('error', reject).on('response', (answer) => resolve(answer.on('error', () => undefined)));
    asking.end(body);
  });
}

beforeEach(async () => {
  server = await startRawMcpServer();
  opened.push(server);
});

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

describe('McpProxy: forwarding', () => {
  it.each(['POST', 'GET', 'DELETE'])('forwards one %s request and returns its status', async (method) => {
    server.answerWith(plain(method === 'GET' ? 405 : 202, { allow: 'POST' }));
    const gateway = await start();
    const answer = await send(gateway.endpoint.href, method === 'POST' ? { body: CALL } : { method });
    expect(answer.status).toBe(method === 'GET' ? 405 : 202);
    expect(answer.headers.allow).toBe('POST');
    expect(server.received).toMatchObject([{ method, path: '/mcp' }]);
  });

  it.each(['PUT', 'HEAD', 'PATCH'])('refuses the method %s with 405', async (method) => {
    const gateway = await start();
    const answer = await send(gateway.endpoint.href, { method });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } });
    expect(server.received).toHaveLength(0);
  });

  it.each([
    ['a batch', Buffer.from(`[${CALL},${CALL}]`)],
    ['bytes that are not JSON', Buffer.from([0, 255, 254, 13, 10, 13, 10])],
    ['an empty body', Buffer.alloc(0)],
    ['a long body', Buffer.alloc(1_000_000, 'ü')],
  ])('forwards %s byte for byte', async (_what, body) => {
    const gateway = await start();
    expect((await post(gateway, { body })).status).toBe(200);
    expect(server.received[0]?.body.equals(body)).toBe(true);
    expect(gateway.outcomes).toMatchObject([{ status: 200, upstreamStatus: 200, requestBytes: body.length }]);
  });

  it('forwards the headers that it was given, and none of the client', async () => {
    const gateway = await start({}, { change: () => ({ headers: ['x-user-jwt', 'ours', 'Mcp-Session-Id', 'inner'] }) });
    await post(gateway, {
      headers: { ...JSON_HEADERS, cookie: 'a=b', authorization: 'Bearer secret', te: 'trailers' },
    });
    const names = server.received[0]?.rawHeaders.filter((_value, index) => index % 2 === 0);
    expect(names?.map((name) => name.toLowerCase()).sort()).toEqual([
      'connection',
      'content-length',
      'host',
      'mcp-session-id',
      'x-user-jwt',
    ]);
  });

  it('returns only the headers of the answer that are meant for the client', async () => {
    const headers = { 'mcp-session-id': 'abc', 'retry-after': '3', 'set-cookie': 'a=b', 'x-internal': '1' };
    server.answerWith(json({ ok: true }, 200, { ...headers, 'access-control-allow-origin': '*' }));
    const gateway = await start({}, { change: () => ({ hooks: { wrapSessionId: (id) => `${id}-bound` } }) });
    const answer = await post(gateway);
    expect(answer).toMatchObject({
      text: '{"ok":true}',
      headers: { 'mcp-session-id': 'abc-bound', 'retry-after': '3' },
    });
    for (const name of ['set-cookie', 'x-internal', 'access-control-allow-origin']) {
      expect(answer.headers).not.toHaveProperty(name);
    }
  });

  it('returns a filtered answer without the length of the original', async () => {
    server.answerWith(json({ text: 'abc' }));
    const bodyFilter = () => ({ push: (chunk: Buffer) => Buffer.concat([chunk, chunk]), end: () => Buffer.from('!') });
    const gateway = await start({}, { change: () => ({ hooks: { bodyFilter } }) });
    expect((await post(gateway)).text).toBe('{"text":"abc"}{"text":"abc"}!');
  });
});

describe('McpProxy: an answer that has to be read', () => {
  const reading = (): McpHooks => ({ bodyFilter: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }) });

  it.each([
    ['identity', 200],
    ['Identity', 200],
    ['compress', 502],
  ])(
    'returns only plain answers, filtered or not: with content-encoding %s it returns %d',
    async (encoding, status) => {
      server.answerWith(json({}, 200, { 'content-encoding': encoding }));
      for (const hooks of [reading(), {}]) {
        const gateway = await start({}, { change: () => ({ hooks, rpcId: () => 7 }) });
        const answer = await post(gateway);
        expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json']);
        expect(answer.headers['content-encoding']).toBe(status === 200 ? encoding : undefined);
      }
    },
  );

  it('decodes a compressed answer, also where nothing reads it', async () => {
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync('{"text":"abc"}'));
    });
    for (const hooks of [reading(), {}]) {
      const { status, text, headers } = await post(await start({}, { change: () => ({ hooks }) }));
      expect([status, text, headers['content-encoding']]).toEqual([200, '{"text":"abc"}', undefined]);
    }
  });

  it('returns 502 when the filter fails before the first byte was sent', async () => {
    server.answerWith(json({ text: 'abc' }));
    const failing = (): never => {
      throw new UpstreamFailure('too_large', 'the list of tools is too long');
    };
    const hooks = { bodyFilter: () => ({ push: () => Buffer.alloc(0), end: failing }) };
    const gateway = await start({}, { change: () => ({ hooks, rpcId: () => 7 }) });
    const answer = await post(gateway);
    expect(answer.status).toBe(502);
    expect(jsonOf(answer)).toMatchObject({ id: 7, error: { data: { code: 'provider_invalid_response' } } });
  });
});

describe('McpProxy: an answer that breaks off before its first byte', () => {
  it('removes the head of an answer that breaks off before its first byte', async () => {
    const head = 'content-type: text/html\r\ncontent-encoding: compress\r\nmcp-session-id: s-1\r\ncontent-length: 10';
    const upstream = await startTcp((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`));
    const gateway = await startProxying(targetAt(upstream.url('/mcp')));
    opened.push(upstream, gateway);
    const { status, headers, text } = await post(gateway);
    expect([status, headers['content-type']]).toEqual([502, 'application/json']);
    expect([headers['content-encoding'], headers['mcp-session-id']]).toEqual([undefined, undefined]);
    expect(JSON.parse(text)).toMatchObject({ error: { data: { code: 'provider_invalid_response' } } });
  });
});

describe('McpProxy: streams', () => {
  it('opens a GET stream at once although it has no event yet', async () => {
    server.answerWith(silentEvents);
    const gateway = await start();
    // There is no first byte for the head to wait for.
    const answer = await open(gateway);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    answer.destroy();
  });

  it('forwards each piece of a stream as it comes', async () => {
    const pieces = [': comment\n\n', 'id: 1\nretry: 5\ndata: \n\n', 'data: ü'.slice(0, 7), '\n\n'];
    server.answerWith(events(pieces, 60));
    const gateway = await start();
    const answer = await open(gateway, 'POST', CALL);
    const got: string[] = [];
    for await (const chunk of answer) got.push(String(chunk));
    expect(got).toEqual(pieces);
  });

  it('answers calls while many streams are idle', async () => {
    const gateway = await start({}, { change: (request) => ({ callerKey: String(request.socket.remotePort) }) });
    server.answerWith((request, response) => {
      if (request.method === 'GET') silentEvents(request, response);
      else json({ ok: true })(request, response);
    });
    const streams = await Promise.all(Array.from({ length: 200 }, () => open(gateway)));
    for (let index = 0; index < 20; index += 1) expect((await post(gateway)).status).toBe(200);
    // One per stream, and one for all calls.
    expect(server.connections).toBe(201);
    for (const stream of streams) stream.destroy();
    await eventually(() => gateway.outcomes.length === 220);
  });

  it('limits the open GET streams of one caller', async () => {
    server.answerWith(silentEvents);
    const gateway = await start({}, { streamsPerCaller: 2 });
    const streams = [await open(gateway), await open(gateway)];
    const refused = await send(gateway.endpoint.href, { method: 'GET' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    expect(jsonOf(refused)).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code: 'rate_limited' } } });
    streams[0]?.destroy();
    await eventually(() => gateway.outcomes.length === 2);
    const next = await open(gateway);
    expect(next.statusCode).toBe(200);
    for (const stream of [...streams, next]) stream.destroy();
  });

  it('reads from the server at the pace of a slow client', async () => {
    let written = 0;
    server.answerWith(large(200_000_000, (total) => (written = total)));
    const gateway = await start();
    const answer = await open(gateway, 'POST', CALL);
    answer.pause();
    await sleep(300);
    const stalledAt = written;
    await sleep(300);
    expect(written).toBe(stalledAt);
    // The buffers of two connections hold less than this.
    expect(written).toBeLessThan(30_000_000);
    answer.destroy();
    await eventually(() => gateway.outcomes[0]?.status === 499);
  });
});

describe('McpProxy: the client disconnects', () => {
  it.each(['application/json', 'text/event-stream'])('limits client pauses, but not in streams: %s', async (type) => {
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.write(Buffer.alloc(30_000_000, ' '));
    });
    const gateway = await start({ timeouts: { firstByteMs: 1_000 } }, { answerIdleMs: 1_000 });
    const answer = await open(gateway, 'POST', CALL);
    answer.pause();
    if (type === 'application/json') {
      await eventually(() => gateway.outcomes.length === 1);
      expect(gateway.outcomes).toMatchObject([{ status: 499, error: undefined }]);
    } else {
      await sleep(1_500);
      expect(gateway.outcomes).toEqual([]);
    }
    answer.destroy();
    await eventually(() => gateway.outcomes.length === 1);
  });

  it.each([
    ['before the head', 'POST', () => undefined],
    ['during the stream of a call', 'POST', silentEvents],
    ['during a GET stream', 'GET', silentEvents],
  ])('closes the request to the server when the client disconnects %s', async (_when, method, listener) => {
    server.answerWith(listener);
    const gateway = await start();
    const delays: number[] = [];
    // Other tests may keep the machine busy, so the fastest of three turns counts.
    for (let turn = 1; turn <= 3; turn += 1) {
      const asking = httpRequest(gateway.endpoint, { method, agent: false, headers: JSON_HEADERS });
      asking.on('error', () => undefined).on('response', (answer) => answer.on('error', () => undefined).resume());
      asking.end(method === 'POST' ? CALL : undefined);
      await eventually(() => server.received.length === turn);
      await sleep(50);
      const leftAt = performance.now();
      asking.destroy();
      const noted = server.received[turn - 1];
      await eventually(() => noted?.closedEarlyAt !== undefined);
      delays.push((noted?.closedEarlyAt ?? 0) - leftAt);
    }
    expect(Math.min(...delays)).toBeLessThan(200);
    await eventually(() => gateway.outcomes.length === 3);
    expect(gateway.outcomes[0]).toMatchObject({ status: 499, error: undefined });
  });
});

describe('McpProxy: the server fails', () => {
  it('cuts the answer when the server breaks off in the middle of a stream', async () => {
    server.answerWith(brokenEvents);
    const gateway = await start();
    await expect(post(gateway)).rejects.toThrow('aborted');
    expect(gateway.outcomes).toMatchObject([{ status: 200, error: { code: 'provider_invalid_response' } }]);
  });

  it.each([301, 302, 307, 308])('neither follows nor returns a redirect (%d)', async (status) => {
    server.answerWith(plain(status, { location: 'http://127.0.0.1:1/elsewhere' }));
    const answer = await post(await start());
    expect(answer.status).toBe(502);
    expect(answer.headers).not.toHaveProperty('location');
    expect(jsonOf(answer)).toMatchObject({ error: { code: -32603, data: { code: 'provider_invalid_response' } } });
    expect(server.received).toHaveLength(1);
  });

  it('returns 504 when the server does not answer in time', async () => {
    server.answerWith(() => undefined);
    const gateway = await start({ timeouts: { firstByteMs: 300 } }, { change: () => ({ rpcId: () => 'seven' }) });
    const answer = await post(gateway);
    expect(answer.status).toBe(504);
    expect(jsonOf(answer)).toMatchObject({ id: 'seven', error: { data: { code: 'provider_timeout' } } });
    await eventually(() => server.received[0]?.closedEarlyAt !== undefined);
  });

  it('does not time out a silent stream', async () => {
    server.answerWith(events(['data: 1\n\n', 'data: 2\n\n'], 700));
    const gateway = await start({ timeouts: { firstByteMs: 500 } }, { answerIdleMs: 500 });
    expect((await post(gateway)).text).toBe('data: 1\n\ndata: 2\n\n');
  });

  it.each([
    ['the rest of an answer', '{"jsonrpc":', 200],
    ['the body after the head', '', 504],
  ])('ends a call when the server does not send %s in time', async (_what, begun, status) => {
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
      if (begun === '') response.flushHeaders();
      else response.write(begun);
    });
    const gateway = await start(QUICK, { answerIdleMs: 300 });
    if (begun === '') expect((await post(gateway)).status).toBe(504);
    else await expect(post(gateway)).rejects.toThrow('aborted');
    expect(gateway.outcomes).toMatchObject([{ status, error: { code: 'provider_timeout' } }]);
    await eventually(() => server.received[0]?.closedEarlyAt !== undefined);
  });

  it.each(['text/event-stream', 'application/json'])('sends the head of a silent answer, %s', async (type) => {
    let finish: () => void = () => undefined;
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': type }).flushHeaders();
      finish = () => response.end(': {}');
    });
    const { endpoint } = await start();
    // Resolves with the head.
    const answer = await fetch(endpoint, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
    finish();
    expect(await answer.text()).toBe(': {}');
  });

  it('allows the rest of an answer as much time as its head', async () => {
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      setTimeout(() => response.end('{}'), 600);
    });
    const gateway = await start({ timeouts: { firstByteMs: 60_000 } }, { answerIdleMs: 200 });
    expect((await post(gateway)).text).toBe('{}');
  });

  it('does not time out a slow answer that keeps coming', async () => {
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      let pieces = 0;
      const timer = setInterval(() => {
        pieces += 1;
        if (pieces < 8) return void response.write(' ');
        clearInterval(timer);
        response.end('{}');
      }, 200);
    });
    expect((await post(await start(QUICK, { answerIdleMs: 1_000 }))).status).toBe(200);
  });

  it('tries to connect twice, then returns 502', async () => {
    const port = await closedPort();
    const gateway = await startProxying(targetAt(new URL(`http://127.0.0.1:${port}/mcp`)));
    opened.push(gateway);
    const startedAt = performance.now();
    const answer = await post(gateway);
    expect(performance.now() - startedAt).toBeGreaterThan(90);
    expect(jsonOf(answer)).toMatchObject({ error: { data: { code: 'provider_failed' } } });
    expect(answer.status).toBe(502);
  });

  it('does not repeat a call that was sent', async () => {
    let calls = 0;
    const crashing = await startTcp((socket) => {
      calls += 1;
      socket.destroy();
    });
    const gateway = await startProxying(targetAt(crashing.url('/mcp')));
    opened.push(crashing, gateway);
    expect((await post(gateway)).status).toBe(502);
    await sleep(150);
    expect(calls).toBe(1);
    expect(gateway.outcomes).toMatchObject([{ error: { code: 'provider_failed' } }]);
  });

  it('returns 502 for an address that the egress rules refuse', async () => {
    const gateway = await startProxying(targetAt(new URL('https://169.254.169.254/mcp')));
    opened.push(gateway);
    expect((await post(gateway)).status).toBe(502);
    expect(gateway.outcomes).toMatchObject([{ error: { reason: expect.stringMatching('^refused_by_egress') } }]);
  });

  it.each([401, 403])(
    'returns 502 without the challenge of a server that refuses its credential (%d)',
    async (status) => {
      server.answerWith(plain(status, { 'www-authenticate': 'Bearer resource_metadata="https://inner/"' }));
      const answer = await post(await start());
      expect(answer.status).toBe(502);
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      expect(jsonOf(answer)).toMatchObject({ error: { data: { code: 'provider_credential_rejected' } } });
    },
  );

  it('returns 401 with its own challenge when the server refuses the token of the user', async () => {
    server.answerWith(plain(401, { 'www-authenticate': 'Bearer resource_metadata="https://inner/"' }, 'no'));
    const answer = await post(await start({}, { change: () => ({ hooks: { challenge: () => 'Bearer error="x"' } }) }));
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer error="x"' }, text: 'no' });
  });
});

describe('McpProxy: shutdown', () => {
  it('waits for calls at shutdown, and ends streams after them', async () => {
    server.answerWith((request, response) => {
      if (request.method === 'GET') silentEvents(request, response);
      else setTimeout(() => json({ late: true })(request, response), 200);
    });
    const gateway = await start();
    const stream = await open(gateway);
    const cut = new Promise<number>((resolve) => stream.on('close', () => resolve(performance.now())).resume());
    const answered = post(gateway).then((answer) => ({ answer, at: performance.now() }));
    await eventually(() => server.received.length === 2);
    await gateway.proxy.close(5_000);
    const { answer, at } = await answered;
    expect(answer.text).toBe('{"late":true}');
    expect(await cut).toBeGreaterThan(at - 50);
    // The stream ends as a server would end it: clients open another one, and do not see an error.
    expect(stream.complete).toBe(true);
    expect((await send(gateway.endpoint.href, { method: 'GET' })).status).toBe(503);
  });

  it('waits for calls at shutdown no longer than the grace period', async () => {
    server.answerWith(() => undefined);
    const gateway = await start();
    const answered = post(gateway);
    await eventually(() => server.received.length === 1);
    await gateway.proxy.close(50);
    expect((await answered).status).toBe(502);
    expect((await post(gateway)).status).toBe(503);
  });
});

describe('McpProxy: a server that refuses the credential of the gateway', () => {
  const keys = (): readonly (string | undefined)[] =>
    server.received.map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('x-key') + 1]);

  it.each([
    ['there are none', undefined, ['old']],
    ['the server refuses these too', ['x-key', 'new'], ['old', 'new']],
  ])('sends a refused call once more when there are other headers: %s', async (_what, renewed, sent) => {
    server.answerWith(plain(401));
    const renewHeaders = (): Promise<readonly string[] | undefined> => Promise.resolve(renewed);
    const gateway = await start({}, { change: () => ({ headers: ['x-key', 'old'], renewHeaders }) });
    expect((await post(gateway)).status).toBe(502);
    expect(keys()).toEqual(sent);
  });

  it('asks for other headers after no other failure', async () => {
    let asked = 0;
    const renewHeaders = (): Promise<undefined> => {
      asked += 1;
      return Promise.resolve(undefined);
    };
    server.answerWith(plain(500));
    expect((await post(await start({}, { change: () => ({ renewHeaders }) }))).status).toBe(500);
    server.answerWith(plain(302, { location: '/' }));
    expect((await post(await start({}, { change: () => ({ renewHeaders }) }))).status).toBe(502);
    expect(asked).toBe(0);
  });

  it('does not send a refused call again after the gateway has closed', async () => {
    server.answerWith(plain(403));
    const close = async (): Promise<readonly string[]> => {
      await gateway.proxy.close(0);
      return ['x-key', 'new'];
    };
    const gateway: ProxyingServer = await start(
      {},
      { change: () => ({ headers: ['x-key', 'old'], renewHeaders: close }) },
    );
    expect((await post(gateway)).status).toBe(502);
    expect(keys()).toEqual(['old']);
  });
});

// Some of these end the process under undici 7. The reset of an answer whose end is the end of the connection is left out: libuv
// then reports either an error or a plain end, depending on how far it had read (uv__stream_io in src/unix/stream.c).
describe('McpProxy: slow clients', () => {
  const BYTES = 2_000_000;

  it.each([
    ['ends', 'without a content-length', '', 'end', undefined],
    ['ends', 'with a content-length', `content-length: ${BYTES}\r\n`, 'end', undefined],
    [
      'ends too early',
      'with connection: close',
      `connection: close\r\ncontent-length: ${BYTES + 1}\r\n`,
      'end',
      'provider_invalid_response',
    ],
    [
      'is reset',
      'with a content-length',
      `content-length: ${BYTES + 1}\r\n`,
      'resetAndDestroy',
      'provider_invalid_response',
    ],
  ] as const)('shows a slow client that the server connection %s (%s)', async (_what, _how, head, end, code) => {
    const upstream = await startTcp((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${head}\r\n${'x'.repeat(BYTES)}`);
    });
    const gateway = await startProxying(targetAt(upstream.url('/mcp')));
    opened.push(upstream, gateway);
    for (const method of ['POST', 'GET']) {
      const answer = await open(gateway, method, method === 'POST' ? CALL : undefined);
      answer.pause();
      await sleep(100);
      for (const socket of upstream.open) socket[end]();
      await sleep(50);
      let size = 0;
      const read = new Promise((resolve) => {
        answer.on('data', (chunk: Buffer) => (size += chunk.length)).on('close', resolve);
      });
      answer.resume();
      await read;
      expect(answer.complete && size === BYTES).toBe(code === undefined);
    }
    await eventually(() => gateway.outcomes.length === 2);
    expect(gateway.outcomes.map(({ error }) => error?.code)).toEqual([code, code]);
  });
});
