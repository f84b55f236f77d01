import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { loopbackPolicy, relayTo, until } from './__fixtures__/calls.js';
import { startHttp, type Loopback } from './__fixtures__/loopback.js';
import { startRelaying } from './__fixtures__/relaying.js';
import { Valve } from './__fixtures__/sinks.js';
import { UpstreamClient } from './upstream-client.js';

const MIB = 1024 * 1024;
/** A relay that held a body would need this much; one that does not stays below the bound. */
const WHOLE = 192 * MIB;
const BOUND = 96 * MIB;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

let client: UpstreamClient;
const servers: Loopback[] = [];

function serve<Server extends Loopback>(server: Server): Server {
  servers.push(server);
  return server;
}

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 });
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Repeats one chunk: only what the relay holds takes memory. */
class Source extends Readable {
  sentBytes = 0;

  constructor(private readonly bytes: number) {
    super();
  }

  override _read(): void {
    const chunk = CHUNK.subarray(0, this.bytes - this.sentBytes);
    this.sentBytes += chunk.length;
    this.push(chunk.length === 0 ? null : chunk);
  }
}

/** The number of bytes, and the most memory that the process used above its level before. */
async function drain(stream: Readable): Promise<{ bytes: number; grownBytes: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  let bytes = 0;
  let measuredAt = 0;
  for await (const chunk of stream) {
    if (Buffer.isBuffer(chunk)) bytes += chunk.length;
    if (bytes < measuredAt + MIB) continue;
    measuredAt = bytes;
    most = Math.max(most, process.memoryUsage.rss());
  }
  return { bytes, grownBytes: most - before };
}

function answerTo(server: Loopback, method: string, body?: Readable): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asking = httpRequest(server.url('/'), {
      method,
      agent: false,
      headers: body ? { 'content-length': WHOLE } : {},
    });
    asking.on('response', resolve).on('error', reject);
    if (body) pipeline(body, asking).catch(reject);
    else asking.end();
  });
}

it('relays a download of 192 MiB without holding it', async () => {
  const upstream = serve(await startHttp((_request, response) => void new Source(WHOLE).pipe(response)));
  const gateway = serve(await startRelaying(client, upstream.url('/')));
  // The first one fills the memory that the process keeps for the next.
  await drain(await answerTo(gateway, 'GET'));
  const { bytes, grownBytes } = await drain(await answerTo(gateway, 'GET'));
  expect(bytes).toBe(WHOLE);
  expect(grownBytes).toBeLessThan(BOUND);
}, 60_000);

it('relays an upload of 192 MiB without holding it', async () => {
  const received: { bytes: number; grownBytes: number }[] = [];
  const upstream = serve(
    await startHttp((request, response) => {
      void drain(request).then((result) => {
        received.push(result);
        response.end();
      });
    }),
  );
  const gateway = serve(await startRelaying(client, upstream.url('/')));
  for (let round = 0; round < 2; round += 1) {
    const answer = await answerTo(gateway, 'POST', new Source(WHOLE));
    answer.resume();
    expect(answer.statusCode).toBe(200);
  }
  expect(received).toMatchObject([{ bytes: WHOLE }, { bytes: WHOLE }]);
  expect(received[1]?.grownBytes).toBeLessThan(BOUND);
  expect(upstream.requests[0]?.headers['content-length']).toBe(String(WHOLE));
}, 60_000);

it('reads an answer no faster than its sink accepts it', async () => {
  const source = new Source(64 * MIB);
  const upstream = serve(await startHttp((_request, response) => void source.pipe(response)));
  const sink = new Valve();
  const relayed = client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink }));
  await until(() => sink.receivedBytes > 0);
  await stillness(() => source.sentBytes);
  // The kernel's buffers on both ends of a loopback connection, and a chunk or two.
  expect(source.sentBytes).toBeLessThan(16 * MIB);
  expect(sink.receivedBytes).toBeLessThan(MIB);
  sink.open();
  await relayed;
  expect(sink.receivedBytes).toBe(64 * MIB);
});

it('reads an upload no faster than the provider accepts it', async () => {
  const upstream = serve(
    await startHttp((request, response) => {
      request.pause();
      request.on('end', () => response.end());
    }),
  );
  const source = new Source(64 * MIB);
  const request = { method: 'POST', url: upstream.url('/'), headers: {}, body: source } as const;
  const relayed = client.relay(relayTo(upstream.url('/'), { request }));
  await until(() => upstream.requests.length === 1);
  await stillness(() => source.sentBytes);
  expect(source.sentBytes).toBeLessThan(16 * MIB);
  upstream.requests[0]?.resume();
  expect((await relayed).status).toBe(200);
  expect(source.sentBytes).toBe(64 * MIB);
});

/** Waits until the number has not changed for a while. */
async function stillness(read: () => number): Promise<void> {
  let last = -1;
  while (last !== read()) {
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
