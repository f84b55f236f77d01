import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callTo, failureOf, loopbackPolicy, relayTo } from './__fixtures__/calls.js';
import { startHttp, startTcp, type Loopback } from './__fixtures__/loopback.js';
import { ZSTD_RESULTS, zstdHeader, zstdZeros } from '../common/http/__fixtures__/zstd-frames.js';
import { loneSender } from './egress/lone-sender.js';
import { UpstreamClient } from './upstream-client.js';

const TEXT = Buffer.from(JSON.stringify({ results: Array.from({ length: 2_000 }, (_, index) => ({ index })) }));
const CODINGS: readonly (readonly [coding: string, encode: (bytes: Buffer) => Buffer])[] = [
  ['gzip', (bytes) => zlib.gzipSync(bytes)],
  ['X-Gzip', (bytes) => zlib.gzipSync(bytes)],
  ['deflate', (bytes) => zlib.deflateSync(bytes)],
  ['deflate', (bytes) => zlib.deflateRawSync(bytes)],
  ['br', (bytes) => zlib.brotliCompressSync(bytes)],
  ['identity, gzip', (bytes) => zlib.gzipSync(bytes)],
  ['gzip, br', (bytes) => zlib.brotliCompressSync(zlib.gzipSync(bytes))],
  // Node 20 has no zstd, so that its bytes are stored, and another decoder is tried.
  ['zstd', () => ZSTD_RESULTS],
];

/** By default brotli spends seconds on a few bytes less. */
const FAST = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

let client: UpstreamClient;
const servers: Loopback[] = [];

beforeAll(() => {
  client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 4, connectTimeoutMs: 10_000 });
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => client.close());

/** A server that answers with these bytes, in pieces, under this coding. */
async function serve(coding: string, bytes: Buffer, pieceBytes = 1_000): Promise<Loopback> {
  const server = await startHttp((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding });
    for (let at = 0; at < bytes.length; at += pieceBytes) response.write(bytes.subarray(at, at + pieceBytes));
    response.end();
  });
  servers.push(server);
  return server;
}

describe('an answer that is compressed although that was not asked for', () => {
  it.each(CODINGS)('is decoded where it is held: %s', async (coding, encode) => {
    const server = await serve(coding, encode(TEXT));
    const { body, headers } = await client.send(callTo(server.url('/')));
    expect(body.equals(TEXT)).toBe(true);
    expect([headers['content-encoding'], headers['content-length'], headers['content-type']]).toEqual([
      undefined,
      undefined,
      'application/json',
    ]);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it.each(CODINGS)('is decoded where it is streamed: %s', async (coding, encode) => {
    const server = await serve(coding, encode(TEXT));
    const stream = new PassThrough();
    const [received] = await Promise.all([
      buffer(stream),
      client.relay(
        relayTo(server.url('/'), { sinkFor: ({ headers }) => (headers['content-encoding'] ? undefined : stream) }),
      ),
    ]);
    expect(received.equals(TEXT)).toBe(true);
  });

  it('is decoded on a connection of its own', async () => {
    const server = await serve('gzip', zlib.gzipSync(TEXT));
    const send = loneSender(loopbackPolicy(), 1_000);
    expect((await send(callTo(server.url('/')))).body.equals(TEXT)).toBe(true);
  });

  it('streams each event when it comes', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      const gzip = zlib.createGzip();
      gzip.pipe(response);
      gzip.write('data: 1\n\n');
      gzip.flush();
    });
    servers.push(server);
    const stream = new PassThrough();
    const relayed = client.relay(relayTo(server.url('/'), { sinkFor: () => stream }));
    const first = await new Promise((resolve) => stream.once('data', (chunk) => resolve(String(chunk))));
    expect(first).toBe('data: 1\n\n');
    stream.destroy();
    expect((await failureOf(relayed)).kind).toBe('caller_gone');
  });

  it('keeps the connection for the next request', async () => {
    const server = await serve('gzip', zlib.gzipSync(TEXT));
    for (let time = 0; time < 3; time += 1) await client.send(callTo(server.url('/')));
    expect(server.connections).toBe(1);
  });

  it('has no body where none comes', async () => {
    const server = await serve('gzip', Buffer.alloc(0));
    expect((await client.send(callTo(server.url('/')))).body).toHaveLength(0);
  });

  it.each(['compress', 'gzip, br, gzip', 'unknown'])('is passed on as it is under %s', async (coding) => {
    const server = await serve(coding, TEXT);
    const { body, headers } = await client.send(callTo(server.url('/')));
    expect([body.equals(TEXT), headers['content-encoding']]).toEqual([true, coding]);
  });

  it('is passed on as it is where it is a part of the whole', async () => {
    const part = zlib.gzipSync(TEXT).subarray(100, 200);
    const server = await startHttp((_request, response) => {
      response.writeHead(206, { 'content-encoding': 'gzip', 'content-range': 'bytes 100-199/500' }).end(part);
    });
    servers.push(server);
    const { body, headers } = await client.send(callTo(server.url('/')));
    expect([body.equals(part), headers['content-encoding']]).toEqual([true, 'gzip']);
  });
});

describe('an answer that cannot be decoded', () => {
  it.each([
    ['cut off', 'gzip', zlib.gzipSync(TEXT).subarray(0, -20), 'incomplete'],
    ['no gzip', 'gzip', TEXT, 'incomplete'],
    ['larger than the bound when it is decoded', 'gzip', zlib.gzipSync(Buffer.alloc(1_000_000)), 'too_large'],
    ['cut off', 'zstd', ZSTD_RESULTS.subarray(0, -20), 'incomplete'],
    ['no zstd', 'zstd', TEXT, 'incomplete'],
    ['of a window above 8 MiB', 'zstd', Buffer.concat([zstdHeader(24), Buffer.alloc(9)]), 'incomplete'],
    ['larger than the bound when it is decoded', 'zstd', zstdZeros(8), 'too_large'],
  ])('fails the call: %s, %s', async (_what, coding, bytes, kind) => {
    const server = await serve(coding, bytes);
    expect((await failureOf(client.send(callTo(server.url('/'))))).kind).toBe(kind);
  });

  it.each([
    ['br', zlib.brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), FAST)],
    ['zstd', zstdZeros(512)],
  ])('ends a stream in %s that expands without end, and holds only some of it', async (coding, bomb) => {
    const server = await serve(coding, bomb, bomb.length);
    const stream = new PassThrough().resume();
    const failure = await failureOf(client.relay(relayTo(server.url('/'), { sinkFor: () => stream })));
    expect(failure).toMatchObject({ kind: 'too_large', message: expect.stringContaining('1100 times') });
    expect(stream.destroyed).toBe(true);
  });

  it('waits for a receiver that is slow', async () => {
    const text = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index * 7919}\n`).join(''));
    const server = await serve('gzip', zlib.gzipSync(text), 64 * 1024);
    const stream = new PassThrough();
    const relayed = client.relay(relayTo(server.url('/'), { sinkFor: () => stream }));
    await sleep(100);
    expect(stream.readableLength + stream.writableLength).toBeLessThan(256 * 1024);
    const [received] = await Promise.all([buffer(stream), relayed]);
    expect(received.equals(text)).toBe(true);
  });
});

describe('an interim answer 100 that was not asked for', () => {
  it.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 100 \r\nx-a: b\r\n\r\nHTTP/1.0 100 Continue\r\n\r\n'])(
    'is skipped, however it is cut: %j',
    async (interim) => {
      const answer = `${interim}HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nHTTP/1.1 100 \n`;
      for (const piece of [1, 7, 1_000]) {
        const server = await startTcp((socket) => {
          void (async () => {
            for (let at = 0; at < answer.length; at += piece) {
              socket.write(answer.slice(at, at + piece));
              await new Promise((resolve) => setImmediate(resolve));
            }
          })();
        });
        servers.push(server);
        const call = callTo(server.url('/'));
        for (const send of [client.send.bind(client), loneSender(loopbackPolicy(), 1_000)]) {
          expect((await send(call)).body.toString()).toBe('HTTP/1.1 100 \n');
        }
      }
    },
  );
});
