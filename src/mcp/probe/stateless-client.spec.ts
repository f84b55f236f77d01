import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { type GuardedStreamFetch, guardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import { agreedRevision } from './handshake-check.js';
import { type ProbeTransport, MAX_ANSWER_BYTES } from './probe.types.js';
import { discover, listTools } from './stateless-client.js';

let server: Loopback;
let network: GuardedStreamFetch;
let listener: RequestListener;

beforeAll(async () => {
  server = await startHttp((request, response) => listener(request, response));
});

beforeEach(() => {
  network = guardedStreamFetch(new EgressPolicy(['127.0.0.1']), {
    connectTimeoutMs: 10_000,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
});

afterEach(async () => {
  await network.close();
  listener = (_request, response) => response.end();
});

afterAll(async () => {
  await server.close();
});

function probe(milliseconds = 30_000): ProbeTransport {
  return { headers: { 'x-key': 'k' }, network, deadline: AbortSignal.timeout(milliseconds) };
}

function answering(result: unknown): RequestListener {
  return (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
}

describe('discover and a silent server', () => {
  it.each<[string, RequestListener]>([
    ['no head', () => undefined],
    [
      'no body',
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write(' '),
    ],
    [
      'no event',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'),
    ],
  ])('report a timeout and not an era: %s', async (_what, silent) => {
    listener = silent;
    await expect(discover(server.url('/mcp'), probe(200))).rejects.toMatchObject({ code: 'provider_timeout' });
  });

  it('agreedRevision is undefined for a server that ignores the handshake', async () => {
    listener = () => undefined;
    await expect(agreedRevision(server.url('/mcp'), probe(200))).resolves.toBeUndefined();
  });
});

it('discover accepts a byte order mark', async () => {
  const result = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  listener = (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(`\u{feff}${text}`);
  expect(await discover(server.url('/mcp'), probe())).toMatchObject({ hasTools: true });
});

describe('answers of a probed server are limited', () => {
  it.each(['application/json', 'text/event-stream'])('to a number of bytes: %s', async (type) => {
    let isOpen = true;
    listener = (_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.on('close', () => (isOpen = false));
      const chunk = Buffer.alloc(256 * 1024, 'x');
      const write = (): void => {
        while (isOpen && response.write(chunk));
        if (isOpen) response.once('drain', write);
      };
      write();
    };
    await expect(discover(server.url('/mcp'), probe())).rejects.toMatchObject({ code: 'provider_invalid_response' });
  });

  it('to a number of pages and tools, and a length of names', async () => {
    let pages = 0;
    listener = (request, response) => {
      pages += 1;
      const tools = [{ name: `x-${pages}` }, { name: 7 }, null];
      answering({ tools, nextCursor: `after ${pages}` })(request, response);
    };
    const list = await listTools(server.url('/mcp'), probe());
    expect([list.tools.length, list.isWhole]).toEqual([50, false]);
    expect(pages).toBe(50);
    const long = 'x'.repeat(10_000);
    listener = answering({ supportedVersions: ['2026-07-28', long, 7, 'soon'], serverInfo: { name: long } });
    expect(await discover(server.url('/mcp'), probe())).toEqual({
      revisions: ['2026-07-28'],
      hasTools: false,
      server: { name: 'x'.repeat(255), version: '' },
    });
  });
});
