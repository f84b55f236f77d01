import type { LookupAddress } from 'node:dns';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callTo, failureOf, loopbackPolicy, until } from './__fixtures__/calls.js';
import { selfSignedCertificate } from './__fixtures__/certificate.js';
import { startFullPort } from './__fixtures__/full-port.js';
import { closedPort, startHttp, startHttps, startTcp, type Loopback } from './__fixtures__/loopback.js';
import { EgressPolicy } from './egress/egress-policy.js';
import { HostLookups } from './egress/host-lookups.js';
import { UpstreamClient, type UpstreamClientOptions } from './upstream-client.js';
import type { UpstreamCall } from './upstream.types.js';

const OPTIONS: UpstreamClientOptions = { connectionsPerOrigin: 4, connectTimeoutMs: 10_000 };

let client: UpstreamClient;
const servers: Loopback[] = [];

function serve(server: Loopback): Loopback {
  servers.push(server);
  return server;
}

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), OPTIONS);
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('UpstreamClient: failures', () => {
  it.each([
    ['announced', { 'content-length': '1001' }],
    ['chunked', {}],
    ['chunked, on a connection that closes', { connection: 'close' }],
  ])('stops at a body that is too large: %s', async (_how, headers) => {
    const server = serve(
      await startHttp((_request, response) => response.writeHead(200, headers).end('x'.repeat(1_001))),
    );
    const failure = await failureOf(
      client.send(callTo(server.url('/'), { maxResponseBytes: 1_000, retry: 'idempotent' })),
    );
    expect(failure.kind).toBe('too_large');
    expect(server.requests).toHaveLength(1);
  });

  it('stops an endless body', async () => {
    const server = serve(
      await startHttp((_request, response) => {
        const timer = setInterval(() => response.write('x'.repeat(500)), 1);
        response.on('close', () => clearInterval(timer));
      }),
    );
    expect((await failureOf(client.send(callTo(server.url('/'), { maxResponseBytes: 1_000 })))).kind).toBe('too_large');
    await until(() => server.requests[0]?.socket.destroyed === true);
  });

  it('stops endless headers', async () => {
    const server = serve(await startTcp((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`)));
    expect((await failureOf(client.send(callTo(server.url('/'))))).kind).toBe('too_large');
  });

  it('does not repeat the request after an unrequested 101', async () => {
    const [status, headers] = ['101 Switching Protocols', 'connection: upgrade\r\nupgrade: h2c\r\n'];
    let requests = 0;
    const server = serve(
      await startTcp((socket) => {
        requests += 1;
        socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`);
      }),
    );
    const failure = await failureOf(client.send(callTo(server.url('/'), { retry: 'idempotent' })));
    expect(failure).toMatchObject({ kind: 'interim', wasSent: true });
    expect(requests).toBe(1);
  });

  it('ignores other interim answers', async () => {
    const answers = 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    const server = serve(await startTcp((socket) => socket.write(answers)));
    expect((await client.send(callTo(server.url('/')))).status).toBe(200);
  });

  it.each([301, 302, 303, 307, 308, 300, 304])('does not follow a %d', async (status) => {
    const target = serve(await startHttp((_request, response) => response.end('secret')));
    const server = serve(
      await startHttp((_request, response) => response.writeHead(status, { location: target.origin }).end()),
    );
    expect((await failureOf(client.send(callTo(server.url('/'), { retry: 'idempotent' })))).kind).toBe('redirect');
    expect(target.connections).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['shorter than its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'incomplete'],
    [
      'chunked without its last chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      'incomplete',
    ],
    ['with a broken chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhalf\r\n', 'incomplete'],
    ['cut off in the headers', 'HTTP/1.1 200 OK\r\ncontent-', 'broken'],
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'broken'],
    ['nothing', '', 'broken'],
  ])('reports an answer that is %s', async (_what, bytes, kind) => {
    const server = serve(await startTcp((socket) => socket.end(bytes)));
    expect((await failureOf(client.send(callTo(server.url('/'))))).kind).toBe(kind);
  });

  it('reports a connection that is reset', async () => {
    const server = serve(await startTcp((socket) => socket.resetAndDestroy()));
    expect(await failureOf(client.send(callTo(server.url('/'))))).toMatchObject({ kind: 'broken' });
  });

  it('reports a connection that is refused', async () => {
    const url = new URL(`http://127.0.0.1:${await closedPort()}/`);
    const failure = await failureOf(client.send(callTo(url)));
    expect(failure).toMatchObject({ kind: 'connect', message: `no connection to ${url.host} (ECONNREFUSED)` });
  });

  it('bounds the wait for a connection that is not accepted', async () => {
    const full = await startFullPort();
    client = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, connectTimeoutMs: 50 });
    const started = performance.now();
    const failure = await failureOf(client.send(callTo(new URL(`http://127.0.0.1:${full.port}/`))));
    await full.close();
    expect([failure.kind, failure.message]).toEqual(['connect', expect.stringContaining('UND_ERR_CONNECT_TIMEOUT')]);
    // It is checked about twice a second.
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('reports a name that does not resolve', async () => {
    const policy = new EgressPolicy([], () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })));
    const other = new UpstreamClient(policy, OPTIONS);
    expect((await failureOf(other.send(callTo(new URL('https://api.example.com/'))))).kind).toBe('connect');
    await other.close();
  });

  it('names the host whose look-up takes too long, and no other', async () => {
    const server = serve(await startHttp((_request, response) => response.end()));
    const resolve = (hostname: string): Promise<LookupAddress[]> =>
      hostname === 'slow.test' ? new Promise(() => undefined) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const lookups = new HostLookups(resolve, { patienceMs: 20 });
    const allowed = ['slow.test', 'api.test'];
    const other = new UpstreamClient(new EgressPolicy(allowed, lookups.find), { ...OPTIONS, connectTimeoutMs: 60_000 });
    const callAt = (host: string): UpstreamCall =>
      callTo(new URL(`http://${host}:${server.port}/`), { retry: 'idempotent', timeoutMs: 60_000 });

    const failures = await Promise.all(Array.from({ length: 6 }, () => failureOf(other.send(callAt('slow.test')))));
    const failure = { kind: 'connect', message: 'the name look-up of slow.test takes too long' };
    for (const each of failures) expect(each).toMatchObject(failure);
    expect(await other.send(callAt('api.test'))).toMatchObject({ status: 200 });
    await other.close();
  });

  it.each([
    'https://10.0.0.1/',
    'https://localhost.internal/',
    'http://api.example.com/',
    'https://user:pass@api.example.com/',
    'https://[::ffff:127.0.0.1]/',
  ])('does not connect where the egress policy refuses: %s', async (url) => {
    expect((await failureOf(client.send(callTo(new URL(url), { retry: 'idempotent' })))).kind).toBe(
      'refused_by_egress',
    );
  });

  it('does not connect where a name leads to a refused address', async () => {
    const server = serve(await startHttp((_request, response) => response.end()));
    const policy = new EgressPolicy([], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    const other = new UpstreamClient(policy, OPTIONS);
    const call = callTo(new URL(`https://api.example.com:${server.port}/`), { retry: 'idempotent' });
    expect((await failureOf(other.send(call))).kind).toBe('refused_by_egress');
    expect(server.connections).toBe(0);
    await other.close();
  });

  it('gives up at the deadline and cuts the connection', async () => {
    const server = serve(await startHttp(() => undefined));
    const call = callTo(server.url('/'), { timeoutMs: 300, retry: 'idempotent' });
    expect((await failureOf(client.send(call))).kind).toBe('timeout');
    await until(() => server.requests[0]?.socket.destroyed === true);
    expect(server.requests).toHaveLength(1);
  });

  it('gives up at the deadline in the middle of a body', async () => {
    const server = serve(await startHttp((_request, response) => response.write('half')));
    expect((await failureOf(client.send(callTo(server.url('/'), { timeoutMs: 300 })))).kind).toBe('timeout');
  });

  it('does not send a request with hardly any time for its answer, and keeps the connection for others', async () => {
    const held: ServerResponse[] = [];
    const server = serve(await startHttp((_request, response) => held.push(response)));
    const single = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, connectionsPerOrigin: 1 });
    const first = single.send(callTo(server.url('/first')));
    await until(() => held.length === 1);
    const second = failureOf(single.send(callTo(server.url('/second'), { timeoutMs: 1_000, retry: 'idempotent' })));
    await sleep(920);
    const third = single.send(callTo(server.url('/third')));
    held[0]?.end();

    expect(await second).toMatchObject({ kind: 'timeout', wasSent: false });
    await first;
    await until(() => held.length === 2);
    held[1]?.end();
    expect(await third).toMatchObject({ status: 200 });
    expect(server.requests.map(({ url }) => url)).toEqual(['/first', '/third']);
    expect(server.connections).toBe(1);
    await single.close();
  });
});

describe('UpstreamClient over TLS', () => {
  const certificate = selfSignedCertificate('provider.test');

  function tlsClient(): UpstreamClient {
    const policy = new EgressPolicy(['127.0.0.1/32'], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    return new UpstreamClient(policy, { ...OPTIONS, ca: certificate.cert });
  }

  it('checks the certificate against the name while it connects to the checked address', async () => {
    const server = serve(await startHttps(certificate, (_request, response) => response.end('secure')));
    client = tlsClient();
    expect((await client.send(callTo(new URL(`https://provider.test:${server.port}/`)))).body.toString()).toBe(
      'secure',
    );
    expect((await failureOf(client.send(callTo(new URL(`https://other.test:${server.port}/`))))).kind).toBe('connect');
    expect(server.requests).toHaveLength(1);
  });

  it('refuses an unknown certificate', async () => {
    const server = serve(await startHttps(certificate, (_request, response) => response.end()));
    expect((await failureOf(client.send(callTo(server.url('/'))))).kind).toBe('connect');
    expect(server.requests).toHaveLength(0);
  });

  it('reports a port that does not speak TLS', async () => {
    const server = serve(await startTcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect((await failureOf(client.send(callTo(new URL(`https://127.0.0.1:${server.port}/`))))).kind).toBe('connect');
  });

  it('bounds the wait for a handshake', async () => {
    const server = serve(await startTcp(() => undefined));
    client = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, connectTimeoutMs: 50 });
    expect((await failureOf(client.send(callTo(new URL(`https://127.0.0.1:${server.port}/`))))).message).toContain(
      'UND_ERR_CONNECT_TIMEOUT',
    );
  });
});
