import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { closedPort } from '../src/upstream/__fixtures__/loopback.js';
import { eventually } from './support/eventually.js';
import { drip, half, hangUp, json, type Reply, silence, text } from './support/fake-provider.js';
import { startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';

const MAX_RESPONSE_BYTES = 20_000;
const CALLS = 5;

let gateway: RerankGateway;
let virtualKey: string;
let nowhere: string;
/** The resources of an idle gateway. */
let atRest: Held;

interface Held {
  readonly sockets: number;
  readonly timers: number;
}

/** Sockets and timers that keep the process busy, without the idle connections to the provider. */
function held(): Held {
  const active = process.getActiveResourcesInfo();
  const sockets = active.filter((resource) => resource === 'TCPSocketWrap').length;
  return {
    sockets: sockets - gateway.provider.connections,
    timers: active.filter((resource) => resource === 'Timeout').length,
  };
}

function connectionsOf(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}

async function settled(): Promise<void> {
  await eventually(() => held().sockets <= atRest.sockets && held().timers <= atRest.timers);
}

beforeAll(async () => {
  gateway = await startRerankGateway({ PROVIDER_MAX_RESPONSE_BYTES: String(MAX_RESPONSE_BYTES) });
  const config = { timeout_ms: 300 };
  virtualKey = await gateway.virtualKey('cohere', { config });
  nowhere = await gateway.virtualKey('cohere', {
    config: { ...config, base_url: `http://127.0.0.1:${await closedPort()}` },
  });
  // Until the connections of the setup are closed.
  await eventually(async () => (await connectionsOf(gateway.app.app.getHttpServer())) === 0);
  atRest = held();
});
afterAll(() => gateway.close());

describe('the resources of failed calls', () => {
  it.each([
    ['silence', silence],
    ['a byte at a time', drip(10)],
    ['half a body', half('x'.repeat(1_000))],
    ['a closed connection', hangUp],
    ['status 500', json({}, 500)],
    ['an answer that is too large', text(' '.repeat(MAX_RESPONSE_BYTES + 1), 'application/json')],
    ['a redirect', json({}, 302, { location: '/' })],
  ] satisfies readonly (readonly [string, Reply])[])('releases sockets and timers after %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    const answers = await Promise.all(Array.from({ length: CALLS }, () => gateway.rerank(virtualKey, VALID)));
    expect(answers.map((answer) => answer.status).every((status) => status >= 500)).toBe(true);
    await settled();
  });

  it('releases sockets and timers when the provider refuses connections', async () => {
    await Promise.all(Array.from({ length: CALLS }, () => gateway.rerank(nowhere, VALID)));
    await settled();
  });

  it('releases sockets and timers when clients disconnect', async () => {
    gateway.provider.forget();
    gateway.provider.replyWith(silence);
    const leaving = new AbortController();
    const calls = Array.from({ length: CALLS }, () => gateway.rerank(virtualKey, VALID, { signal: leaving.signal }));
    await eventually(() => gateway.provider.calls.length === CALLS);
    leaving.abort();
    await Promise.allSettled(calls);
    await settled();
  });
});
