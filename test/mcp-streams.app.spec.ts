// Streams of the whole gateway: many idle ones, silent ones, and one that its client does not read.
import { randomUUID } from 'node:crypto';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { EventReader } from './support/event-reader.js';
import { GatewayClient } from './support/gateway-client.js';
import { json, large, type RawMcpServer, silentEvents, startRawMcpServer } from './support/mcp-raw-server.js';
import { type Answer, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const STREAMS = 200;
const CALLS_A_SLICE = 30;
const SLICES = 5;
const HEADERS = {
  'x-gateway-api-key': ADMIN_KEY,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } });
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
/** One whole event of 64 KiB, so that every filter and watcher treats it as a message. */
const EVENT = Buffer.from(`data: "${'x'.repeat(65_526)}"\n\n`);

let gateway: TestApp;
let admin: GatewayClient;
let raw: RawMcpServer;
const opened: EventReader[] = [];

beforeAll(async () => {
  [gateway, raw] = await Promise.all([
    startTestApp({ MCP_STREAMS_PER_CALLER: String(STREAMS), LOG_LEVEL: 'error' }),
    startRawMcpServer(),
  ]);
  admin = new GatewayClient(gateway.url);
});

afterEach(() => {
  for (const stream of opened.splice(0)) stream.cut();
  raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  raw.forget();
});

afterAll(async () => {
  await gateway.close();
  await raw.close();
});

async function register(fields: object = {}): Promise<{ readonly url: string; readonly path: string }> {
  const slug = `s-${randomUUID()}`;
  const { id } = await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: raw.endpoint.href, ...fields });
  return { url: `${gateway.url}/${slug}/mcp`, path: `/v1/mcp-servers/${String(id)}` };
}

function open(url: string, method = 'GET', body?: string): EventReader {
  const stream = new EventReader(url, { method, headers: HEADERS, ...(body === undefined ? {} : { body }) });
  opened.push(stream);
  return stream;
}

const silentToGet: RequestListener = (incoming, response) => {
  if (incoming.method === 'GET') silentEvents(incoming, response);
  else json({ jsonrpc: '2.0', id: 1, result: {} })(incoming, response);
};

describe(`${STREAMS} idle streams`, () => {
  function call(url: string): Promise<Answer> {
    return send(url, { headers: HEADERS, body: CALL });
  }

  /** Median CPU time of a call in this process, in which all sides run, over several slices. */
  async function cpuOfCalls(url: string): Promise<number> {
    const slices: number[] = [];
    for (let slice = 0; slice < SLICES; slice += 1) {
      const before = process.cpuUsage();
      for (let each = 0; each < CALLS_A_SLICE; each += 1) expect((await call(url)).status).toBe(200);
      const { user, system } = process.cpuUsage(before);
      slices.push(user + system);
    }
    return slices.toSorted((one, other) => one - other)[Math.floor(SLICES / 2)] ?? 0;
  }

  it('keeps calls as fast and their connections free beside idle streams', async () => {
    const { url } = await register();
    raw.answerWith(silentToGet);
    for (let each = 0; each < CALLS_A_SLICE; each += 1) await call(url);
    const alone = await cpuOfCalls(url);
    const connections = raw.connections;
    for (let each = 0; each < STREAMS; each += 1) open(url);
    await eventually(() => opened.every(({ status }) => status === 200));
    // Each stream has its own connection …
    expect(raw.connections - connections).toBe(STREAMS);
    const beside = await cpuOfCalls(url);
    // … and the calls need no more than before.
    expect(raw.connections - connections).toBeLessThanOrEqual(STREAMS + 1);
    expect(beside / alone).toBeLessThan(3);
    expect(opened.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    expect(opened.flatMap(({ events }) => events)).toEqual([]);
  });

  it('limits the idle streams of one caller', async () => {
    const { url } = await register();
    raw.answerWith(silentToGet);
    for (let each = 0; each < STREAMS; each += 1) open(url);
    await eventually(() => opened.every(({ status }) => status === 200));
    const refused = await send(url, { method: 'GET', headers: HEADERS });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    expect((await call(url)).status).toBe(200);
    opened[0]?.cut();
    await eventually(async () => {
      const next = open(url);
      await eventually(() => next.status !== 0);
      return next.status === 200;
    });
  });
});

describe('a silent stream', () => {
  /** Longer than a request takes to arrive, also on a busy machine, and longer than any limit of the impatient server. */
  const [HEAD_MS, SILENT_MS] = [400, 1_200];
  let impatient: Server;
  let origin: string;

  /** The same application behind a server whose limits are the real ones, divided by some hundred. */
  beforeAll(async () => {
    const limits = {
      headersTimeout: HEAD_MS,
      requestTimeout: 1.5 * HEAD_MS,
      keepAliveTimeout: HEAD_MS / 2,
      connectionsCheckingInterval: HEAD_MS / 4,
    };
    impatient = createServer(limits, gateway.app.getHttpAdapter().getInstance());
    await new Promise<void>((resolve) => impatient.listen(0, '127.0.0.1', resolve));
    const address = impatient.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });

  afterAll(async () => {
    impatient.closeAllConnections();
    await new Promise((resolve) => impatient.close(resolve));
  });

  it("sets no idle timeout on the gateway's own server", () => {
    const own: Server = gateway.app.getHttpServer();
    // The other limits of a server end with the last byte of a request.
    expect(own.timeout).toBe(0);
    expect(impatient.timeout).toBe(0);
  });

  it.each([
    ['GET', undefined],
    ['POST', CALL],
    ['POST', LIST],
  ])('keeps a silent stream open beyond every limit of the server: %s', async (method, body) => {
    // The timeout for the head of the answer.
    const { url } = await register({ timeouts: { first_byte_ms: HEAD_MS } });
    let end = (): unknown => undefined;
    raw.answerWith((_incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      end = () => response.end('data: {"late":true}\n\n');
    });
    const stream = open(url.replace(gateway.url, origin), method, body);
    await eventually(() => stream.status === 200);
    await sleep(SILENT_MS);
    // The gateway adds no keep-alive comments: it forwards only the server's own bytes.
    expect([stream.events, stream.hasEnded]).toEqual([[], false]);
    end();
    await eventually(() => stream.hasEnded);
    expect(stream.events).toMatchObject([{ data: '{"late":true}' }]);
  });

  it('allows a stream, but not a call, to wait for its head', async () => {
    const { url } = await register({ timeouts: { first_byte_ms: HEAD_MS } });
    raw.answerWith((_incoming, response) => void setTimeout(() => response.writeHead(204).end(), SILENT_MS));
    const [stream, answer] = await Promise.all(
      ['GET', 'POST'].map((method) =>
        send(url.replace(gateway.url, origin), {
          method,
          headers: HEADERS,
          ...(method === 'GET' ? {} : { body: CALL }),
        }),
      ),
    );
    expect([stream?.status, answer?.status]).toEqual([204, 504]);
  });

  it('closes a connection whose request never completes', async () => {
    const { port } = new URL(origin);
    const head = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write('GET /x/mcp HTTP/1.1\r\nHost: localhost\r\n'),
      );
      socket.on('data', (chunk) => (text += chunk.toString())).on('close', () => resolve(text));
    });
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('a stream that its client does not read', () => {
  const BYTES = 200_000_000;

  /** An answer that is paused until the test reads it. */
  function ask(url: string, method: string, body?: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asking = request(url, { method, headers: HEADERS, agent: false });
      asking.on('error', reject).on('response', (answer) => resolve(answer.on('error', () => undefined)));
      asking.end(body);
    });
  }

  it.each([
    ['as it comes', 'POST', CALL, false],
    ['while its tools are looked at', 'POST', LIST, false],
    ['through the filter of disabled tools', 'GET', undefined, true],
    ['through both', 'POST', LIST, true],
  ])('applies backpressure to the server of an unread stream: %s', async (_how, method, body, hasDisabled) => {
    const { url, path } = await register();
    if (hasDisabled) await admin.put(`${path}/tools`, { tools: [{ name: 'off', enabled: false }] });
    let written = 0;
    raw.answerWith(large(BYTES, (total) => (written = total), EVENT));
    const answer = await ask(url, method, body);
    answer.pause();
    await eventually(async () => {
      const before = written;
      await sleep(200);
      return written > 0 && written === before;
    });
    // Fits into the buffers of two connections.
    expect(written).toBeLessThan(30_000_000);
    // No other request waits for it.
    expect((await send(`${gateway.url}/metrics`, { method: 'GET' })).status).toBe(200);
    // The stream continues where it stopped.
    const stalledAt = written;
    answer.resume();
    await eventually(() => written > stalledAt + 10_000_000);
    answer.destroy();
    await eventually(() => raw.received[0]?.closedEarlyAt !== undefined);
  });
});
