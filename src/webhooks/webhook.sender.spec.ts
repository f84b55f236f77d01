import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatheredLog } from '../../test/support/gathered-log.js';
import { Clock } from '../common/time/clock.js';
import { KeyRing, parseMasterKey } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { type Loopback, startHttp } from '../upstream/__fixtures__/loopback.js';
import { guardedHttp } from '../upstream/egress/guarded-http.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import type { ClaimedDelivery, ClaimedEndpoint } from './claimed-delivery.js';
import { WEBHOOK_LIMITS, WebhookSender } from './webhook.sender.js';
import { WebhookEncryptor } from './webhook.encryption.js';

const NEVER = new AbortController().signal;
const NOW = new Date('2026-11-21T12:00:00.500Z');
const ENDPOINT = { id: randomUUID(), organisationId: randomUUID() };
const vault = new WebhookEncryptor(new Sealer(new KeyRing(parseMasterKey(Buffer.alloc(32, 3).toString('base64')))));

class StoppedClock extends Clock {
  override now(): Date {
    return NOW;
  }
}

let server: Loopback;
let client: UpstreamClient;
let handle: RequestListener;
let log: GatheredLog;

beforeEach(async () => {
  handle = (_request, response) => response.writeHead(204).end();
  log = new GatheredLog('trace');
  server = await startHttp((request, response) => handle(request, response));
  client = clientFor(new EgressPolicy(['127.0.0.1']));
});

afterEach(async () => {
  await client.close();
  await server.close();
});

function clientFor(policy: EgressPolicy): UpstreamClient {
  return new UpstreamClient(policy, { connectionsPerOrigin: 4, connectTimeoutMs: 10_000 });
}

function sender(): WebhookSender {
  const http = guardedHttp((call) => client.send({ ...call, retry: 'never' }), WEBHOOK_LIMITS);
  return new WebhookSender(new HttpService(axios.create(http)), vault, new StoppedClock(), log.logger);
}

function delivery(changes: Partial<ClaimedEndpoint> = {}, data = '{}'): ClaimedDelivery {
  return {
    id: randomUUID(),
    claimId: randomUUID(),
    attempts: 0,
    event: { id: randomUUID(), type: 'usage_limit.reset', occurredAt: NOW, data },
    endpoint: {
      ...ENDPOINT,
      workspaceId: null,
      url: server.url('/hooks').href,
      format: 'standard',
      disabledAt: null,
      ...vault.issue(ENDPOINT).columns,
      ...changes,
    },
  };
}

describe('WebhookSender', () => {
  it('sends one signed request', async () => {
    const sent = delivery();
    const outcome = await sender().attempt(sent, NEVER);
    expect(outcome).toEqual({ kind: 'accepted', status: 204, latencyMs: expect.any(Number) });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({
      'webhook-id': sent.event.id,
      'webhook-timestamp': '1795262400',
    });
  });

  it.each([
    [200, { kind: 'accepted' }],
    [299, { kind: 'accepted' }],
    [400, { kind: 'refused', status: 400 }],
    [401, { kind: 'refused', status: 401 }],
    [410, { kind: 'gone', status: 410 }],
    [503, { kind: 'refused', status: 503, retryAfterMs: 120_000 }],
    [301, { kind: 'refused', status: 301, error: 'redirect', retryAfterMs: 120_000 }],
    [307, { kind: 'refused', status: 307, error: 'redirect', retryAfterMs: 120_000 }],
  ])('classifies the answer %i after one request', async (status, outcome) => {
    handle = (_request, response) => response.writeHead(status, { 'retry-after': '120', location: '/else' }).end();
    expect(await sender().attempt(delivery(), NEVER)).toMatchObject(outcome);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [200, 'x'.repeat(100_000), { kind: 'refused', status: 200, error: 'too_large' }],
    [410, 'x'.repeat(100_000), { kind: 'gone', status: 410 }],
    [500, 'x'.repeat(100_000), { kind: 'refused', status: 500, error: 'too_large', retryAfterMs: 120_000 }],
    [410, undefined, { kind: 'gone', status: 410 }],
    [503, undefined, { kind: 'refused', status: 503, error: 'incomplete', retryAfterMs: 120_000 }],
  ])('classifies the answer %i by its head when its body fails', async (status, body, outcome) => {
    handle = (_request, response) => {
      response.writeHead(status, { 'retry-after': '120' });
      if (body === undefined) response.write('half', () => response.socket?.destroy());
      else response.end(body);
    };
    expect(await sender().attempt(delivery(), NEVER)).toMatchObject(outcome);
  });

  it.each(['127.0.0.1', '10.0.0.8', '169.254.169.254', 'fd00::1', '::ffff:10.0.0.8'])(
    'does not connect to a public name that leads to %s',
    async (address) => {
      await client.close();
      client = clientFor(new EgressPolicy([], async () => [{ address, family: address.includes(':') ? 6 : 4 }]));
      const outcome = await sender().attempt(delivery({ url: `https://rebound.example.com:${server.port}/` }), NEVER);
      expect(outcome).toMatchObject({ kind: 'unanswered', error: 'refused_by_egress' });
      expect(server.connections).toBe(0);
    },
  );

  it('sends nothing to a disabled endpoint and no event that is too large', async () => {
    expect(await sender().attempt(delivery({ disabledAt: NOW }), NEVER)).toEqual({
      kind: 'hopeless',
      error: 'endpoint_disabled',
    });
    const large = delivery({}, JSON.stringify({ text: 'ü'.repeat(10_000) }));
    expect(await sender().attempt(large, NEVER)).toEqual({ kind: 'hopeless', error: 'event_too_large' });
    expect(server.connections).toBe(0);
  });

  it('reports a secret that does not open, and shows none in the log', async () => {
    const { secret, columns } = vault.issue({ ...ENDPOINT, id: 'another' });
    const outcome = await sender().attempt(delivery(columns), NEVER);
    expect(outcome).toMatchObject({ kind: 'unanswered', error: 'secret_unavailable' });
    expect(server.connections).toBe(0);
    expect(log.text).toContain('"webhook_not_sent"');
    expect(log.text).toMatch(/"error_reason":"[^"]/);
    expect(log.text).not.toContain(secret.slice(6));
    expect(log.text).not.toContain(columns.sealedSecret);
  });

  it('returns a defect as an outcome, so that it cannot stop other deliveries', async () => {
    const outcome = await sender().attempt(delivery({ url: 'no url' }), NEVER);
    expect(outcome).toMatchObject({ kind: 'unanswered', error: 'internal_error' });
    expect(log.text).not.toContain('no url');
  });

  it('ends the request at once when the gateway stops', async () => {
    const stop = new AbortController();
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((done) => (arrived = done));
    handle = () => arrived();
    const attempt = sender().attempt(delivery(), stop.signal);
    await arrival;
    stop.abort();
    expect(await attempt).toEqual({ kind: 'abandoned' });
    expect(await sender().attempt(delivery(), stop.signal)).toEqual({ kind: 'abandoned' });
    expect(server.requests).toHaveLength(1);
  });
});
