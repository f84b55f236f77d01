import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { callTo, failureOf, loopbackPolicy, relayTo, until } from './__fixtures__/calls.js';
import { type Loopback, startHttp } from './__fixtures__/loopback.js';
import { UpstreamClient } from './upstream-client.js';
import type { AttemptObserver, UpstreamFailure } from './upstream.types.js';

const CONNECTIONS = 6;
const HANGING = { id: 'hanging', organisationId: 'one' };
const OTHER = { id: 'other', organisationId: 'two' };

let client: UpstreamClient;
let server: Loopback;
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: CONNECTIONS, connectTimeoutMs: 10_000 });
  server = await startHttp((request, response) => {
    if (request.url === '/hangs') held.push(response);
    else response.end('ok');
  });
});

afterEach(async () => {
  for (const response of held) response.end();
  await client.close();
  await server.close();
});

describe.each(['send', 'relay'] as const)('UpstreamClient.%s: calls that hang', (kind) => {
  const run = (path: string, holder: typeof HANGING, observer: AttemptObserver = {}): Promise<{ status: number }> => {
    const parts = { holder, observers: [observer] };
    return kind === 'send'
      ? client.send(callTo(server.url(path), parts))
      : client.relay(relayTo(server.url(path), parts));
  };

  it('do not let calls of another virtual key wait', async () => {
    const hanging = Array.from({ length: 20 }, () => run('/hangs', HANGING).catch((error: unknown) => error));
    await until(() => held.length === 4);
    const waits: number[] = [];
    const other = await run('/ok', OTHER, { waited: (ms) => waits.push(ms) });
    expect([other.status, waits]).toEqual([200, []]);
    expect(client.counts()).toEqual({ in_use: 4, waiting: 16, full_origins: 1 });

    for (const response of held.splice(0)) response.end();
    // Some of those that wait take the free places, and the others are refused.
    await until(() => client.counts().waiting === 0);
    let haveEnded = false;
    const ends = Promise.all(hanging).finally(() => (haveEnded = true));
    await until(() => {
      for (const response of held.splice(0)) response.end();
      return haveEnded;
    });
    expect((await ends).filter((end) => end instanceof Error).length).toBeGreaterThan(0);
  });
});

describe('UpstreamClient: a call without a free connection', () => {
  it('is refused unsent within about a second, and says how long it waited', async () => {
    const seen: string[] = [];
    const observer: AttemptObserver = {
      before: () => void seen.push('before'),
      started: () => seen.push('started'),
      waited: (ms) => seen.push(ms >= 990 && ms < 2_000 ? 'waited' : `waited ${ms}`),
    };
    const hanging = Array.from({ length: 4 }, () => client.send(callTo(server.url('/hangs'), { holder: HANGING })));
    await until(() => held.length === 4);
    const call = callTo(server.url('/ok'), { holder: HANGING, observers: [observer] });
    const failure: UpstreamFailure = await failureOf(client.send(call));
    expect(failure).toMatchObject({ kind: 'busy', wasSent: false });
    // Neither reserved nor sent.
    expect(seen).toEqual(['waited']);
    expect(server.requests.every(({ url }) => url === '/hangs')).toBe(true);
    for (const response of held.splice(0)) response.end();
    await Promise.all(hanging);
  });

  it('gives its connection back when the attempt is refused after all', async () => {
    const before = (): never => {
      throw new Error('refused');
    };
    await client.send(callTo(server.url('/ok'), { holder: OTHER, observers: [{ before }] })).catch(() => undefined);
    expect(client.counts().in_use).toBe(0);
  });
});
