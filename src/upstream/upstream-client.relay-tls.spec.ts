import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { failureOf, relayTo, until } from './__fixtures__/calls.js';
import { selfSignedCertificate } from './__fixtures__/certificate.js';
import { startHttps, type Loopback } from './__fixtures__/loopback.js';
import { Valve } from './__fixtures__/sinks.js';
import { EgressPolicy } from './egress/egress-policy.js';
import { UpstreamClient } from './upstream-client.js';

const certificate = selfSignedCertificate('provider.test');
const BYTES = 2_000_000;

let client: UpstreamClient;
let server: Loopback;

beforeEach(async () => {
  const policy = new EgressPolicy(['127.0.0.1/32'], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
  client = new UpstreamClient(policy, { connectionsPerOrigin: 1, connectTimeoutMs: 10_000, ca: certificate.cert });
  server = await startHttps(certificate, (request, response) => {
    if (request.url === '/echo') request.pipe(response.setHeader('connection', 'close'));
    if (request.url === '/early') response.writeHead(413, { connection: 'close' }).end('too large');
    if (request.url === '/cut') response.write(Buffer.alloc(BYTES), () => request.socket.destroy());
  });
});

afterEach(async () => {
  await client.close();
  await server.close();
});

function url(path: string): URL {
  return new URL(path, `https://provider.test:${server.port}`);
}

function upload(path: string) {
  const body = Readable.from(
    Array.from({ length: 20 }, () => Buffer.alloc(BYTES / 20)),
    { objectMode: false },
  );
  return { request: { method: 'POST', url: url(path), headers: {}, body } } as const;
}

it('relays bytes both ways over TLS, to a slow reader', async () => {
  const sink = new Valve();
  const relayed = client.relay(relayTo(url('/echo'), { ...upload('/echo'), sinkFor: () => sink }));
  await until(() => sink.receivedBytes > 0);
  setTimeout(() => sink.open(), 50);
  expect((await relayed).status).toBe(200);
  expect(sink.receivedBytes).toBe(BYTES);
});

it('returns the answer to an upload that was refused and cut off', async () => {
  const answer = await client.relay(relayTo(url('/early'), upload('/early')));
  expect([answer.status, answer.body?.toString()]).toEqual([413, 'too large']);
});

it('reports a connection that is cut while the reader is slow', async () => {
  const sink = new Valve();
  const relayed = failureOf(client.relay(relayTo(url('/cut'), { sinkFor: () => sink })));
  await until(() => sink.receivedBytes > 0);
  setTimeout(() => sink.open(), 50);
  expect((await relayed).kind).toBe('incomplete');
});
