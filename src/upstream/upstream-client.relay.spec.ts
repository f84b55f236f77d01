import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { callTo, FakeCaller, failureOf, loopbackPolicy, relayTo, until } from './__fixtures__/calls.js';
import { startHttp, startTcp, type Loopback } from './__fixtures__/loopback.js';
import { Collector, Valve } from './__fixtures__/sinks.js';
import { UpstreamClient, type UpstreamClientOptions } from './upstream-client.js';
import type { UpstreamHead, UpstreamRequest, UpstreamStreamRequest } from './upstream.types.js';

const OPTIONS: UpstreamClientOptions = { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 };

let client: UpstreamClient;
const servers: Loopback[] = [];

function serve<Server extends Loopback>(server: Server): Server {
  servers.push(server);
  return server;
}

/** Returns the request's body, once it has all of it. */
function echo(): Promise<Loopback> {
  return startHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(Buffer.concat(chunks)));
  });
}

function post(url: URL, body: UpstreamStreamRequest['body'], headers: Record<string, string> = {}) {
  return { request: { method: 'POST', url, headers, body } } as const;
}

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), OPTIONS);
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('UpstreamClient.relay: the request', () => {
  it.each([
    ['with its length, where that is known', { 'content-length': '7' }, { 'content-length': '7' }],
    ['in chunks otherwise', {}, { 'transfer-encoding': 'chunked' }],
  ])('sends a stream %s', async (_how, headers, expected) => {
    const server = serve(await echo());
    const body = Readable.from([Buffer.from('{"a"'), Buffer.from(':1}')], { objectMode: false });
    const answer = await client.relay(relayTo(server.url('/'), post(server.url('/'), body, headers)));
    expect(answer.body?.toString()).toBe('{"a":1}');
    expect(server.requests[0]?.headers).toMatchObject({ ...expected, 'accept-encoding': 'identity' });
  });

  it.each([
    ['a buffer', () => Buffer.from('whole'), 'whole'],
    ['no body', () => undefined, ''],
    ['a stream without a byte', () => Readable.from([], { objectMode: false }), ''],
  ])('sends %s', async (_what, body, received) => {
    const server = serve(await echo());
    const answer = await client.relay(relayTo(server.url('/'), post(server.url('/'), body())));
    expect(answer.body?.toString()).toBe(received);
    expect(server.requests[0]?.headers['content-length']).toBe(String(received.length));
  });

  it('signs before it sends', async () => {
    const server = serve(await echo());
    const sign = (request: UpstreamRequest): Promise<UpstreamRequest> =>
      Promise.resolve({ ...request, headers: { ...request.headers, authorization: 'signed' } });
    await client.relay(relayTo(server.url('/'), { signer: { sign } }));
    expect(server.requests[0]?.headers.authorization).toBe('signed');
  });

  it('reports the start of a call once it is signed, and none of a call that cannot be signed', async () => {
    const server = serve(await echo());
    const told: string[] = [];
    const started = (): void => void told.push(`started after ${server.requests.length}`);
    const sign = async (request: UpstreamRequest): Promise<UpstreamRequest> => {
      told.push('signed');
      return request;
    };
    await client.relay(relayTo(server.url('/'), { signer: { sign }, observers: [{ started }] }));
    expect(told).toEqual(['signed', 'started after 0']);
    const refuse = (): Promise<never> => Promise.reject(new Error('no'));
    await expect(
      client.relay(relayTo(server.url('/'), { signer: { sign: refuse }, observers: [{ started }] })),
    ).rejects.toThrow('no');
    const caller = new FakeCaller();
    caller.leave();
    await failureOf(client.relay(relayTo(server.url('/'), { caller, observers: [{ started }] })));
    expect(told).toHaveLength(2);
  });

  it.each([500, 429, 200])('sends a relayed call once, whatever comes back: %d', async (status) => {
    const server = serve(await startHttp((_request, response) => response.writeHead(status).end('{}')));
    expect((await client.relay(relayTo(server.url('/')))).status).toBe(status);
    expect(server.requests).toHaveLength(1);
  });

  it('applies the egress rules, and still reads the request to its end', async () => {
    const body = Readable.from([Buffer.from('unwanted')]);
    const url = new URL('https://10.0.0.1/');
    expect((await failureOf(client.relay(relayTo(url, post(url, body))))).kind).toBe('refused_by_egress');
    await until(() => body.readableEnded);
  });

  it('does not delay short calls', async () => {
    const server = serve(await startHttp(({ url }, response) => (url === '/long' ? undefined : response.end())));
    const caller = new FakeCaller();
    const long = client.relay(relayTo(server.url('/long'), { caller })).catch(() => undefined);
    await until(() => server.requests.length === 1);
    expect((await client.send(callTo(server.url('/short')))).status).toBe(200);
    caller.leave();
    await long;
  });
});

describe('UpstreamClient.relay: the answer', () => {
  it('passes the head to the sink, then the body', async () => {
    const server = serve(
      await startHttp((_request, response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(201, { 'x-one': '1' }).end('bytes');
      }),
    );
    const heads: UpstreamHead[] = [];
    const sink = new Collector();
    const sinkFor = (head: UpstreamHead): Collector => {
      heads.push(head);
      return sink;
    };
    const answer = await client.relay(relayTo(server.url('/'), { sinkFor }));
    expect(answer).toMatchObject({ status: 201, headers: { 'x-one': '1' }, body: undefined });
    expect(heads).toMatchObject([{ status: 201, headers: { 'x-one': '1' } }]);
    expect(sink).toMatchObject({ text: 'bytes', writableFinished: true });
  });

  it('resolves only when the sink has accepted everything', async () => {
    const server = serve(await startHttp((_request, response) => response.end('bytes')));
    const sink = new Valve();
    let resolved = false;
    const relayed = client.relay(relayTo(server.url('/'), { sinkFor: () => sink })).then(() => (resolved = true));
    await until(() => sink.receivedBytes === 5);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(resolved).toBe(false);
    sink.open();
    await relayed;
  });

  it('passes events on one by one, as they arrive', async () => {
    const events = ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n'];
    const sink = new Collector();
    const server = serve(
      await startHttp((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // The next event only when the previous one has arrived.
        events.forEach((event, index) => {
          void until(() => sink.chunks.length === index).then(() => response.write(event));
        });
        void until(() => sink.chunks.length === events.length).then(() => response.end());
      }),
    );
    await client.relay(relayTo(server.url('/'), { sinkFor: () => sink }));
    expect(sink.chunks.map(String)).toEqual(events);
  });

  it('holds an answer without a sink, up to its bound', async () => {
    const server = serve(await startHttp((_request, response) => response.writeHead(400).end('x'.repeat(1_000))));
    const call = relayTo(server.url('/'), { maxBufferedBytes: 1_000 });
    expect((await client.relay(call)).body).toHaveLength(1_000);
    expect((await failureOf(client.relay({ ...call, maxBufferedBytes: 999 }))).kind).toBe('too_large');
  });

  it('refuses to hold an answer that is longer than its declared length', async () => {
    const server = serve(
      await startHttp((_request, response) => {
        response.write('x'.repeat(600));
        setTimeout(() => response.end('x'.repeat(600)), 5);
      }),
    );
    expect((await failureOf(client.relay(relayTo(server.url('/'), { maxBufferedBytes: 1_000 })))).kind).toBe(
      'too_large',
    );
  });

  it.each([301, 304, 307])('does not follow a %d', async (status) => {
    const server = serve(await startHttp((_request, response) => response.writeHead(status, { location: '/x' }).end()));
    const asked: UpstreamHead[] = [];
    const sinkFor = (head: UpstreamHead): undefined => void asked.push(head);
    expect((await failureOf(client.relay(relayTo(server.url('/'), { sinkFor })))).kind).toBe('redirect');
    expect(asked).toHaveLength(0);
  });

  it('rejects with the error of sinkFor, and cuts the connection', async () => {
    const server = serve(await startHttp((_request, response) => response.write('x')));
    const error = new Error('not wanted');
    const sinkFor = (): never => {
      throw error;
    };
    await expect(client.relay(relayTo(server.url('/'), { sinkFor }))).rejects.toBe(error);
    await until(() => server.requests[0]?.socket.destroyed === true);
  });

  it("rejects with the gateway's own error when that ended the upload", async () => {
    const server = serve(await echo());
    const error = new GatewayError('provider_rejected');
    const body = new Readable({ read: () => undefined });
    const relayed = client.relay(relayTo(server.url('/'), post(server.url('/'), body)));
    body.push('part');
    await until(() => server.requests.length === 1);
    body.destroy(error);
    await expect(relayed).rejects.toBe(error);
    await until(() => server.requests[0]?.socket.destroyed === true);
  });

  it('stops sending an upload that was refused', async () => {
    const server = serve(await startHttp((_request, response) => response.writeHead(413).end('{"too":"large"}')));
    let sentBytes = 0;
    const body = new Readable({
      read(size) {
        sentBytes += size;
        this.push(sentBytes > 50_000_000 ? null : Buffer.alloc(size));
      },
    });
    const answer = await client.relay(relayTo(server.url('/'), post(server.url('/'), body)));
    expect([answer.status, answer.body?.toString()]).toEqual([413, '{"too":"large"}']);
    // The gateway still reads it: clients that read no answer before they have sent everything would hang otherwise.
    await until(() => body.readableEnded);
  });

  it('passes on an answer that begins before the end of the upload', async () => {
    const server = serve(
      await startHttp((request, response) => {
        response.write('got: ');
        request.on('data', (chunk: Buffer) => response.write(chunk));
        request.on('end', () => response.end());
      }),
    );
    const sink = new Collector();
    const body = new Readable({ read: () => undefined });
    body.push('one ');
    const relayed = client.relay(relayTo(server.url('/'), { ...post(server.url('/'), body), sinkFor: () => sink }));
    await until(() => sink.text === 'got: one ');
    body.push('two');
    await until(() => sink.text === 'got: one two');
    body.push(null);
    expect((await relayed).status).toBe(200);
  });

  it('reports a server that returns only garbage', async () => {
    const server = serve(await startTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
    expect((await failureOf(client.relay(relayTo(server.url('/'))))).kind).toBe('broken');
  });
});

describe('UpstreamClient.close with relayed calls', () => {
  it('lets relayed calls finish within the grace time at close', async () => {
    const server = serve(await startHttp((_request, response) => setTimeout(() => response.end('late'), 30)));
    const running = client.relay(relayTo(server.url('/')));
    await until(() => server.requests.length === 1);
    const closed = client.close();
    expect(await failureOf(client.relay(relayTo(server.url('/'))))).toMatchObject({ kind: 'connect' });
    expect((await running).body?.toString()).toBe('late');
    await closed;
  });

  it('cuts relayed calls off when the grace time is over', async () => {
    const impatient = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, relayGraceMs: 20 });
    const server = serve(await startHttp((_request, response) => response.write('for ever')));
    const sink = new Collector();
    const running = failureOf(impatient.relay(relayTo(server.url('/'), { sinkFor: () => sink })));
    await until(() => sink.text === 'for ever');
    await impatient.close();
    expect((await running).kind).toBe('incomplete');
    expect(sink).toMatchObject({ destroyed: true, writableFinished: false });
  });
});
