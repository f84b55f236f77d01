import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { JsonObject } from '../src/common/json/read.js';
import { Clock } from '../src/common/time/clock.js';
import { ExpiryNotices } from '../src/webhooks/expiry-notices.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, startFakeProvider, text } from './support/fake-provider.js';
import { SecretGateway } from './support/secret-gateway.js';
import { refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const DAY = 86_400;

let gateway: SecretGateway;
let receiver: FakeProvider;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([SecretGateway.start(), startFakeProvider()]);
  receiver.replyWith(text('', 'text/plain', 204));
});
afterEach(() => gateway.app.dataSource.query('TRUNCATE webhook_deliveries, webhook_outbox'));
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const eventsOf = (type: string): Promise<readonly JsonObject[]> =>
  gateway.app.dataSource.query(
    `SELECT payload, workspace_id FROM webhook_outbox WHERE type = $1 ORDER BY payload ->> 'days', created_at`,
    [type],
  );
const rerank = (virtualKey: string) =>
  send(`${gateway.app.url}/v1/rerank`, {
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': ADMIN_KEY,
      'x-gateway-virtual-key': virtualKey,
    },
    body: JSON.stringify({ model: 'm', query: 'q', documents: ['a'] }),
  });

it('reports keys a week and a day before their end, each time once, and no others', async () => {
  const now = Math.floor(gateway.app.clock.now().getTime() / 1_000);
  const ends = [now + DAY / 2, now + 3 * DAY, now + 30 * DAY, null];
  const ids: string[] = [];
  for (const expires_at of ends) ids.push((await gateway.admin.createKey({ scopes: ['usage.read'], expires_at })).id);
  await gateway.admin.create('/v1/virtual-keys', {
    name: 'Soon',
    slug: 'soon',
    provider: 'local',
    expires_at: now + DAY,
  });
  const notices = gateway.app.app.get(ExpiryNotices, { strict: false });
  await Promise.all([notices.sweep(), notices.sweep()]);
  const keys = (await eventsOf('api_key.expiring')).map(({ payload }) => payload);
  expect(keys).toMatchObject([
    { id: ids[0], days: 1 },
    { id: ids[1], days: 7 },
  ]);
  const prefix = expect.stringMatching(/^tg_.{8}$/);
  expect(keys[0]).toEqual({ id: ids[0], name: 'a key', prefix, days: 1, expires_at: expect.stringMatching(/Z$/) });
  expect(await eventsOf('virtual_key.expiring')).toMatchObject([{ payload: { slug: 'soon', days: 1 } }]);

  await gateway.admin.patch(`/v1/api-keys/${ids[0]}`, { expires_at: now + 5 * DAY });
  await notices.sweep();
  expect(await eventsOf('api_key.expiring')).toHaveLength(3);
});

it('reports a key for less than an hour near its end, and not when it is made', async () => {
  const now = Date.now();
  const inSeconds = (seconds: number): number => Math.floor(now / 1_000) + seconds;
  const ids: string[] = [];
  for (const seconds of [2_400, 90]) {
    ids.push((await gateway.admin.createKey({ scopes: ['usage.read'], expires_at: inSeconds(seconds) })).id);
  }
  const reportedAt = async (seconds: number): Promise<readonly number[]> => {
    const clock = Object.assign(new Clock(), { now: () => new Date(now + seconds * 1_000) });
    await new ExpiryNotices(gateway.app.dataSource, clock, { warn: () => undefined }).sweep();
    const events = await eventsOf('api_key.expiring');
    return ids.map((id) => events.filter(({ payload }) => Object(payload).id === id).length);
  };
  // In ninety seconds there may be only one sweep.
  expect(await reportedAt(0)).toEqual([0, 1]);
  expect(await reportedAt(2_100)).toEqual([0, 1]);
  expect(await reportedAt(2_190)).toEqual([1, 1]);
  expect(await reportedAt(2_280)).toEqual([1, 1]);
});

it('reports a refused credential once, after the secret manager was asked for a newer one', async () => {
  gateway.kv.put('refused', { key: 'old-key' });
  const slug = await gateway.virtualKey(await gateway.reference('refused'), { slug: 'refused' });
  gateway.accept(['new-key']);
  for (let time = 0; time < 2; time += 1)
    expect(refusalOf(await rerank(slug))).toMatchObject({ code: 'provider_credential_rejected' });
  await eventually(async () => (await eventsOf('virtual_key.credential_refused')).length === 1);
  const [event] = await eventsOf('virtual_key.credential_refused');
  expect(event?.['payload']).toEqual({ virtual_key_id: expect.any(String), slug, provider: 'cohere' });
  expect(JSON.stringify(event)).not.toContain('old-key');
});

it('reports no credential that a rotation has replaced', async () => {
  gateway.kv.put('rotated', { key: 'first' });
  gateway.accept(['first', 'second']);
  const slug = await gateway.virtualKey(await gateway.reference('rotated'), { slug: 'rotated' });
  expect((await rerank(slug)).status).toBe(200);
  gateway.kv.put('rotated', { key: 'second' });
  gateway.accept(['second']);
  expect((await rerank(slug)).status).toBe(200);
  expect(await eventsOf('virtual_key.credential_refused')).toEqual([]);
});

it('reports a secret reference when it begins to fail, and not again for the same error', async () => {
  const id = await gateway.reference('missing', { slug: 'missing' });
  for (let time = 0; time < 2; time += 1) await gateway.admin.post(`/v1/secret-references/${id}/test`);
  const slug = await gateway.virtualKey(id, { slug: 'of-missing' });
  expect(refusalOf(await rerank(slug))).toMatchObject({ code: 'secret_unavailable' });
  await eventually(async () => (await eventsOf('secret_reference.failed')).length === 1);
  const [event] = await eventsOf('secret_reference.failed');
  expect(event?.['payload']).toMatchObject({ secret_reference_id: id, slug: 'missing', error: expect.any(String) });
});

it('reports a disabled endpoint to the others, and sends Slack a text', async () => {
  const body = { url: `${receiver.url}/slack`, events: ['webhook.disabled'], format: 'slack' };
  const { id: watcher } = await gateway.admin.create('/v1/webhooks', body);
  expect(await gateway.admin.read(`/v1/webhooks/${String(watcher)}`)).toMatchObject({ format: 'slack' });
  const url = 'https://hooks.example.com/services/token-of-the-chat';
  const { id } = await gateway.admin.create('/v1/webhooks', { url, events: ['*'] });
  for (let time = 0; time < 2; time += 1) await gateway.admin.patch(`/v1/webhooks/${String(id)}`, { enabled: false });
  await eventually(() => receiver.calls.length === 1);
  const [call] = receiver.calls;
  const { text: message } = JSON.parse(String(call?.body));
  expect(message).toContain('*A webhook endpoint was disabled*');
  expect(message).toContain('• reason: administrator');
  expect(message).toContain('• url: https://hooks.example.com\n');
  expect(message).not.toContain('token-of-the-chat');
  const wrong = await gateway.admin.post('/v1/webhooks', { ...body, format: 'teams' });
  expect(refusalOf(wrong)).toMatchObject({ status: 400, param: 'format' });
});
