import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeCaller, failureOf, loopbackPolicy, relayTo, until } from './__fixtures__/calls.js';
import { startHttp, startTcp, type Loopback } from './__fixtures__/loopback.js';
import { startRelaying, type RelayingServer } from './__fixtures__/relaying.js';
import { Collector, Valve } from './__fixtures__/sinks.js';
import { UpstreamClient } from './upstream-client.js';
import { UpstreamFailure, type UpstreamRelayCall } from './upstream.types.js';

/** How long a receiver may take nothing. */
const PAUSE_MS = 1_000;

let client: UpstreamClient;
const servers: Loopback[] = [];

function serve<Server extends Loopback>(server: Server): Server {
  servers.push(server);
  return server;
}

async function relaying(target: Loopback, changes: Partial<UpstreamRelayCall> = {}): Promise<RelayingServer> {
  return serve(await startRelaying(client, target.url('/'), changes));
}

/** A client of the gateway, for which every way to end is fine. */
function ask(server: Loopback, method: string): ClientRequest {
  const asking = httpRequest(server.url('/'), { method, agent: false });
  asking.on('error', () => undefined);
  asking.on('response', (response) => response.on('error', () => undefined).resume());
  return asking;
}

/** Whether every request has lost its connection. */
function cut(server: Loopback): boolean {
  return server.requests.every(({ socket }) => socket.destroyed);
}

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), {
    connectionsPerOrigin: 4,
    connectTimeoutMs: 10_000,
    relayPauseMs: PAUSE_MS,
  });
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('UpstreamClient.relay: the client leaves', () => {
  it('ends the call when the client leaves in the middle of its upload', async () => {
    let receivedBytes = 0;
    const upstream = serve(
      await startHttp((request) => request.on('data', (chunk: Buffer) => (receivedBytes += chunk.length))),
    );
    const gateway = await relaying(upstream);
    const asking = ask(gateway, 'POST');
    asking.write('x'.repeat(100_000));
    await until(() => receivedBytes === 100_000);
    asking.destroy();
    await until(() => cut(upstream) && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toEqual(['caller_gone']);
  });

  it('ends the call when the client leaves before the head', async () => {
    const upstream = serve(await startHttp(() => undefined));
    const gateway = await relaying(upstream);
    const asking = ask(gateway, 'GET').end();
    await until(() => upstream.requests.length === 1);
    asking.destroy();
    await until(() => cut(upstream) && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toEqual(['caller_gone']);
  });

  it('ends the call when the client leaves in the middle of its download', async () => {
    const upstream = serve(await startHttp((_request, response) => response.write('half')));
    const gateway = await relaying(upstream);
    const asking = ask(gateway, 'GET').end();
    asking.on('response', () => asking.destroy());
    await until(() => cut(upstream) && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toEqual(['caller_gone']);
  });

  it('ends the call when the client leaves while it waits for a connection', async () => {
    const narrow = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 1,
      relaysPerOrigin: 1,
      connectTimeoutMs: 10_000,
    });
    const upstream = serve(await startHttp((_request, response) => response.write('x')));
    const [first, second] = [new FakeCaller(), new FakeCaller()];
    const calls = [first, second].map((caller) => failureOf(narrow.relay(relayTo(upstream.url('/'), { caller }))));
    await until(() => upstream.requests.length === 1);
    second.leave();
    expect((await calls[1])?.kind).toBe('caller_gone');
    first.leave();
    await Promise.all(calls);
    await narrow.close();
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    ['fails', (sink: Collector) => sink.destroy(new Error('EPIPE'))],
    ['closes', (sink: Collector) => sink.destroy()],
    ['is ended by other code', (sink: Collector) => sink.end()],
  ])('ends the call when its sink %s', async (_how, end) => {
    const upstream = serve(await startHttp((_request, response) => response.write('half')));
    const sink = new Collector();
    const relayed = failureOf(client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink })));
    await until(() => sink.text === 'half');
    end(sink);
    expect((await relayed).kind).toBe('caller_gone');
    await until(() => cut(upstream));
  });

  it('ends the call when the client leaves before its sink is requested', async () => {
    const upstream = serve(await startHttp((_request, response) => response.write('half')));
    const sink = new Collector();
    sink.destroy();
    expect((await failureOf(client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink })))).kind).toBe(
      'caller_gone',
    );
  });
});

describe('UpstreamClient.relay: the upstream fails', () => {
  it('cuts off an answer that fails in the middle, so that the client notices', async () => {
    const upstream = serve(
      await startHttp((request, response) => response.write('half', () => request.socket.destroy())),
    );
    const gateway = await relaying(upstream);
    const answer = await fetch(gateway.url('/'));
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(gateway.outcomes).toEqual(['incomplete']);
  });

  it.each([
    ['by its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['by its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('reports an answer that is too short %s', async (_how, bytes) => {
    const upstream = serve(await startTcp((socket) => socket.end(bytes)));
    const sink = new Collector();
    expect((await failureOf(client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink })))).kind).toBe(
      'incomplete',
    );
    expect(sink).toMatchObject({ destroyed: true, writableFinished: false });
  });

  it('returns an error to the client when the upstream fails in the middle of an upload', async () => {
    const upstream = serve(await startHttp((request) => request.once('data', () => request.socket.destroy())));
    const gateway = await relaying(upstream);
    const asking = ask(gateway, 'POST');
    const status = new Promise((resolve) => asking.on('response', (response) => resolve(response.statusCode)));
    asking.write('x'.repeat(100_000));
    // The client has not sent everything, and still gets its answer.
    expect(await status).toBe(502);
    expect(gateway.outcomes).toEqual(['broken']);
    asking.end();
  });

  it.each([
    ['keeps the connection', {}],
    ['closes the connection', { connection: 'close' }],
  ])('returns an answer that comes while the client still sends, and %s', async (_how, headers) => {
    const upstream = serve(
      await startHttp((_request, response) => response.writeHead(413, headers).end('{"error":"too large"}')),
    );
    const gateway = await relaying(upstream);
    const asking = httpRequest(gateway.url('/'), { method: 'POST', agent: false });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asking.on('response', resolve).on('error', reject);
    });
    for (let index = 0; index < 100; index += 1) asking.write(Buffer.alloc(100_000));
    const answer = await answered;
    expect(answer.statusCode).toBe(413);
    answer.resume();
    // The gateway reads the rest of the upload, so that clients get as far as reading the answer.
    await new Promise<void>((resolve) => asking.end(resolve));
    expect(gateway.outcomes).toEqual(['done']);
  });

  // undici 7 ends the process in some of these cases.
  it.each([
    ['ends', 'until it closes', '', 'end', 'done'],
    ['ends', 'with connection: close', 'connection: close\r\ncontent-length: 100000\r\n', 'end', 'done'],
    ['ends', 'with a content-length', 'content-length: 100000\r\n', 'end', 'done'],
    [
      'ends too early',
      'with connection: close',
      'connection: close\r\ncontent-length: 100001\r\n',
      'end',
      'incomplete',
    ],
    ['is reset', 'until it closes', '', 'resetAndDestroy', 'incomplete'],
    [
      'is reset',
      'with connection: close',
      'connection: close\r\ncontent-length: 100001\r\n',
      'resetAndDestroy',
      'incomplete',
    ],
    ['is reset', 'with a content-length', 'content-length: 100001\r\n', 'resetAndDestroy', 'incomplete'],
  ] as const)(
    'reports how the answer ended while the client reads slowly: the connection %s, %s',
    async (_what, _how, head, end, outcome) => {
      const upstream = serve(
        await startTcp((socket) => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n${'x'.repeat(100_000)}`)),
      );
      const sink = new Valve();
      const relayed = client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink })).then(
        () => 'done',
        ({ kind }: { kind: string }) => kind,
      );
      await until(() => sink.receivedBytes > 0);
      for (const socket of upstream.open) socket[end]();
      await new Promise((resolve) => setTimeout(resolve, 30));
      sink.open();
      expect(await relayed).toBe(outcome);
      if (outcome === 'done') expect(sink.receivedBytes).toBe(100_000);
    },
  );

  it.each([
    ['ends', 'end', ['whole', 'whole', 'whole']],
    ['is reset', 'resetAndDestroy', ['incomplete', 'incomplete', 'incomplete']],
  ] as const)(
    'reports how the answer ended when the client has not read its last byte: the connection %s',
    async (_what, end, outcomes) => {
      const seen: string[] = [];
      // While the client reads nothing, the end of the answer is not read, whatever its head says of its length.
      for (const head of ['', 'connection: close\r\ncontent-length: 10\r\n', 'content-length: 10\r\n']) {
        const upstream = serve(await startTcp((socket) => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n0123456789`)));
        const sink = new Valve();
        const relayed = client.relay(relayTo(upstream.url('/'), { sinkFor: () => sink })).then(
          () => 'whole',
          (error: unknown) => (error instanceof UpstreamFailure ? error.kind : 'a defect'),
        );
        await until(() => sink.receivedBytes === 10);
        for (const socket of upstream.open) socket[end]();
        await new Promise((resolve) => setTimeout(resolve, 30));
        sink.open();
        seen.push(await relayed);
      }
      expect(seen).toEqual(outcomes);
    },
  );
});

describe('UpstreamClient.relay: silence', () => {
  it('ends the wait for a head after silence', async () => {
    const upstream = serve(await startHttp(() => undefined));
    const failure = await failureOf(client.relay(relayTo(upstream.url('/'), { idleTimeoutMs: 30 })));
    expect(failure).toMatchObject({ kind: 'timeout', message: 'nothing moved for 30 ms' });
    await until(() => cut(upstream));
  });

  it('ends an answer after silence in its middle', async () => {
    const upstream = serve(await startHttp((_request, response) => response.write('half')));
    const sink = new Collector();
    const call = relayTo(upstream.url('/'), { idleTimeoutMs: 500, sinkFor: () => sink });
    expect((await failureOf(client.relay(call))).kind).toBe('timeout');
    expect(sink.destroyed).toBe(true);
    await until(() => cut(upstream));
  });

  it('refuses the client that falls silent in its upload, also when the call has less time', async () => {
    const upstream = serve(await startHttp((request) => request.resume()));
    const impatient = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 4,
      connectTimeoutMs: 10_000,
      uploadSilenceMs: 300,
    });
    const gateway = serve(await startRelaying(impatient, upstream.url('/'), { idleTimeoutMs: 60 }));
    const asking = ask(gateway, 'POST');
    const status = new Promise((resolve) => asking.on('response', (response) => resolve(response.statusCode)));
    asking.write('x');
    await status;
    expect(gateway.outcomes).toEqual(['GatewayError: The request body did not arrive in time.']);
    await until(() => cut(upstream));
    asking.destroy();
    await impatient.close();
  });

  it.each([
    ['does not take', () => startTcp((socket) => socket.pause())],
    ['does not answer', () => startHttp((request) => request.resume())],
  ])('ends an upload that the upstream %s', async (_what, start) => {
    const upstream = serve(await start());
    const gateway = await relaying(upstream, { idleTimeoutMs: 300 });
    ask(gateway, 'POST').end(Buffer.alloc(10_000_000));
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toEqual(['timeout']);
  });

  it.each([
    { what: 'in the middle', size: 5_000_000, room: 1 },
    { what: 'before the last byte', size: 100, room: 1 },
    { what: 'with all of the answer in its buffer', size: 100, room: 1_000 },
  ])('tolerates a sink that reads nothing for a time: $what', async ({ size, room }) => {
    const upstream = serve(await startHttp((_request, response) => response.end(Buffer.alloc(size))));
    const sink = new Valve(room);
    const call = relayTo(upstream.url('/'), { idleTimeoutMs: 300, sinkFor: () => sink });
    const relayed = client.relay(call);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS / 2));
    sink.open();
    expect(await relayed).toMatchObject({ status: 200 });
    expect(sink.receivedBytes).toBe(size);
  });

  it.each([5_000_000, 100])('ends an answer when its sink reads no more of %i bytes', async (size) => {
    const upstream = serve(await startHttp((_request, response) => response.end(Buffer.alloc(size))));
    const sink = new Valve();
    const failure = await failureOf(
      client.relay(relayTo(upstream.url('/'), { idleTimeoutMs: 300, sinkFor: () => sink })),
    );
    expect(failure).toMatchObject({ kind: 'caller_gone', message: `the caller took nothing for ${PAUSE_MS} ms` });
    expect(sink.destroyed).toBe(true);
  });

  it('ends an answer when the upstream falls silent, also after a slow sink', async () => {
    const upstream = serve(await startHttp((_request, response) => response.write('half')));
    const sink = new Valve();
    const relayed = failureOf(client.relay(relayTo(upstream.url('/'), { idleTimeoutMs: 500, sinkFor: () => sink })));
    await until(() => sink.receivedBytes > 0);
    sink.open();
    expect(await relayed).toMatchObject({ kind: 'timeout' });
  });

  it('does not end a slow but steady stream', async () => {
    const upstream = serve(
      await startHttp((request, response) => {
        request.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end());
      }),
    );
    const gateway = await relaying(upstream, { idleTimeoutMs: 1_000 });
    const asking = httpRequest(gateway.url('/'), { method: 'POST', agent: false });
    const received = new Promise<string>((resolve, reject) => {
      asking.on('error', reject);
      asking.on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text));
        response.on('error', reject);
      });
    });
    for (let index = 0; index < 10; index += 1) {
      asking.write(String(index));
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
    asking.end();
    expect(await received).toBe('0123456789');
    expect(gateway.outcomes).toEqual(['done']);
  });
});
