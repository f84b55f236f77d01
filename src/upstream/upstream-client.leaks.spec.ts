import { expect, it } from '@jest/globals';
import { callTo, FakeCaller, loopbackPolicy, relayTo, until } from './__fixtures__/calls.js';
import { Readable } from 'node:stream';
import { closedPort, startHttp, startTcp } from './__fixtures__/loopback.js';
import { OpenedResources } from './__fixtures__/opened-resources.js';
import { Collector } from './__fixtures__/sinks.js';
import { guardedFetch } from './egress/guarded-fetch.js';
import { UpstreamClient } from './upstream-client.js';

it('leaves no socket, timer or listener behind, however calls end', async () => {
  const opened = OpenedResources.watch();

  const client = new UpstreamClient(loopbackPolicy(), {
    connectionsPerOrigin: 2,
    connectTimeoutMs: 500,
    random: () => 0,
  });
  const silent = await startTcp(() => undefined);
  const server = await startHttp((request, response) => {
    if (request.url === '/ok') response.end('ok');
    if (request.url === '/busy') response.writeHead(503, { 'retry-after-ms': '5' }).end();
    if (request.url === '/redirect') response.writeHead(302, { location: '/ok' }).end();
    if (request.url === '/large') response.end('x'.repeat(200_000));
    if (request.url === '/broken') request.socket.destroy();
  });
  const refused = new URL(`http://127.0.0.1:${await closedPort()}/`);
  const caller = new FakeCaller();
  const targets = ['/ok', '/busy', '/redirect', '/large', '/broken', '/never-answers'].map((path) => server.url(path));
  for (const url of [
    ...targets,
    refused,
    silent.url('/'),
    new URL(silent.url('/').href.replace('http', 'https')),
    new URL('https://10.0.0.1/'),
  ]) {
    await client.send(callTo(url, { caller, retry: 'idempotent', timeoutMs: 100 })).catch(() => undefined);
  }
  const fetchWithin = (timeoutMs: number): typeof fetch =>
    guardedFetch(loopbackPolicy(), { timeoutMs, maxResponseBytes: 1_000 });
  await fetchWithin(5_000)(server.url('/ok'));
  await fetchWithin(50)(server.url('/never-answers')).catch(() => undefined);
  expect(caller.listeners.size).toBe(0);

  const leaving = client.send(callTo(server.url('/never-answers'), { caller })).catch(() => undefined);
  const seen = server.requests.length;
  await until(() => server.requests.length > seen);
  caller.leave();
  await leaving;
  expect(caller.listeners.size).toBe(0);

  await client.close();
  expect(opened.areConnectionsClosed).toBe(true);
  await Promise.all([server.close(), silent.close()]);
  await opened.allClosed();
});

it('leaves no socket, timer or listener behind when calls are relayed', async () => {
  const opened = OpenedResources.watch();

  const client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 });
  const server = await startHttp((request, response) => {
    if (request.url === '/echo') request.pipe(response);
    if (request.url === '/early') response.writeHead(413).end('too large');
    if (request.url === '/redirect') response.writeHead(302, { location: '/echo' }).end();
    if (request.url === '/broken') request.socket.destroy();
    if (request.url === '/half') response.write('half', () => request.socket.destroy());
    if (request.url === '/stalls') response.write('half');
  });
  const refused = new URL(`http://127.0.0.1:${await closedPort()}/`);
  const caller = new FakeCaller();
  const paths = ['/echo', '/early', '/redirect', '/broken', '/half', '/stalls', '/never-answers'];
  for (const url of [...paths.map((path) => server.url(path)), refused, new URL('https://10.0.0.1/')]) {
    for (const sink of [new Collector(), undefined]) {
      const body = Readable.from([Buffer.alloc(100_000)], { objectMode: false });
      const request = { method: 'POST', url, headers: {}, body } as const;
      await client
        .relay(relayTo(url, { request, caller, idleTimeoutMs: 50, sinkFor: () => sink }))
        .catch(() => undefined);
      await until(() => body.readableEnded || body.destroyed);
    }
  }
  expect(caller.listeners.size).toBe(0);

  await client.close();
  expect(opened.areConnectionsClosed).toBe(true);
  await server.close();
  await opened.allClosed();
});

it('uses few connections and no timers for many consecutive relayed calls', async () => {
  const opened = OpenedResources.watch();
  const client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 });
  const server = await startHttp((request, response) => void request.pipe(response));
  for (let index = 0; index < 200; index += 1) {
    const sink = new Collector();
    const body = Readable.from([Buffer.from(`call ${index}`)], { objectMode: false });
    const request = { method: 'POST', url: server.url('/'), headers: {}, body } as const;
    await client.relay(relayTo(server.url('/'), { request, sinkFor: () => sink }));
    expect(sink.text).toBe(`call ${index}`);
  }
  expect(server.connections).toBeLessThanOrEqual(2);
  // Only those of the server and the client, and none per call.
  expect(opened.timers).toBeLessThanOrEqual(10);
  await client.close();
  expect(opened.areConnectionsClosed).toBe(true);
  await server.close();
  await opened.allClosed();
});

it('opens no connection for calls whose callers have left', async () => {
  const client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 2, connectTimeoutMs: 5_000 });
  const server = await startHttp((request, response) => {
    if (request.url === '/ok') response.end('ok');
    if (request.url === '/half') response.write('half');
  });
  const [caller, waiting] = [new FakeCaller(), new FakeCaller()];
  const send = (path: string, who: FakeCaller): Promise<unknown> =>
    client.send(callTo(server.url(path), { caller: who })).catch(() => 'over');
  const relay = (path: string): Promise<unknown> =>
    client.relay(relayTo(server.url(path), { caller, sinkFor: () => new Collector() })).catch(() => 'over');
  const sent = [send('/never', caller), send('/half', caller), relay('/never'), relay('/half')];
  await until(() => server.requests.length === 4);
  // Sent calls have two connections: these callers leave while they wait for one.
  const queued = [send('/never', waiting), send('/half', waiting)];
  waiting.leave();
  caller.leave();
  expect(await Promise.all([...sent, ...queued])).toEqual(Array<string>(6).fill('over'));
  await until(() => server.open.size === 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([server.open.size, server.connections, server.requests.length]).toEqual([0, 4, 4]);

  // The pools work as before, and within their bounds.
  const answers = ['/ok', '/ok', '/ok', '/ok'].map((path) => client.send(callTo(server.url(path))));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(server.connections).toBe(6);
  await client.close();
  await server.close();
});
