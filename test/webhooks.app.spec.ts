import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { isObject, readArray, readObject, readString, type JsonObject } from '../src/common/json/read.js';
import { WebhookDelivery } from '../src/webhooks/webhook-delivery.entity.js';
import { WebhookDeliveryQueue } from '../src/webhooks/webhook-delivery.queue.js';
import { WebhookDispatcher } from '../src/webhooks/webhook.dispatcher.js';
import { WebhookEndpointStore } from '../src/webhooks/webhook-endpoint.store.js';
import { WebhookRetention } from '../src/webhooks/webhook.retention.js';
import { BlockingSession } from './support/blocking-session.js';
import { eventually } from './support/eventually.js';
import {
  type FakeProvider,
  hangUp,
  inTurn,
  json,
  onlyCall,
  type ProviderCall,
  silence,
  startFakeProvider,
  text,
} from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { TestClock } from './support/test-clock.js';
import { addTenant } from './support/tenants.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const THANKS = text('', 'text/plain', 204);
const NOT_FOUND = { status: 404, code: 'not_found', param: null, source: 'gateway' };
const EXHAUSTED = 'usage_limit.exhausted';

let gateway: TestApp;
let admin: GatewayClient;
let receiver: FakeProvider;
let organisationId: string;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startTestApp(), startFakeProvider()]);
  admin = new GatewayClient(gateway.url);
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
});

beforeEach(() => receiver.replyWith(THANKS));

afterEach(async () => {
  for (const table of ['webhook_deliveries', 'webhook_outbox', 'webhook_endpoints']) {
    await gateway.dataSource.query(`DELETE FROM "${table}"`);
  }
  receiver.forget();
});

afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

interface Made {
  readonly id: string;
  readonly secret: string;
  readonly path: string;
}

async function make(fields: object = {}, client = admin): Promise<Made> {
  const body = { url: `${receiver.url}/hooks`, events: ['*'], ...fields };
  const created = await client.create('/v1/webhooks', body);
  const [id, secret] = [readString(created['id'], 'id'), readString(created['secret'], 'secret')];
  return { id, secret, path: `/v1/webhooks/${id}` };
}

interface Happening {
  readonly type?: string;
  readonly organisation?: string;
  readonly workspace?: string | null;
  readonly dedupeKey?: string | null;
  readonly payload?: object;
}

/** The event that a transaction of another room writes. */
async function happen(happening: Happening = {}): Promise<void> {
  const {
    type = EXHAUSTED,
    organisation = organisationId,
    workspace = null,
    dedupeKey = null,
    payload = {},
  } = happening;
  await gateway.dataSource.query(
    `INSERT INTO "webhook_outbox" ("organisation_id", "workspace_id", "type", "dedupe_key", "payload")
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT ("dedupe_key") DO NOTHING`,
    [organisation, workspace, type, dedupeKey, JSON.stringify(payload)],
  );
  wake();
}

function wake({ app }: Pick<TestApp, 'app'> = gateway): void {
  app.get(WebhookDispatcher, { strict: false }).wake();
}

/** Moves the clock forward, so that later deliveries are due now. */
function advance(milliseconds: number): void {
  gateway.clock.advance(milliseconds);
  wake();
}

async function arrived(count: number): Promise<void> {
  await eventually(() => receiver.calls.length >= count);
}

/** The only delivery to an endpoint, once it has had this many attempts. */
async function deliveryOf({ path }: Made, attempts = 1): Promise<JsonObject> {
  await eventually(async () => {
    const [delivery] = await admin.list(`${path}/deliveries`);
    return delivery !== undefined && Number(delivery['attempts']) >= attempts;
  });
  const [delivery, another] = await admin.list(`${path}/deliveries`);
  if (delivery === undefined || another !== undefined) throw new Error('expected one delivery');
  return delivery;
}

/** The wait for the next attempt in milliseconds, to the second. */
function waitOf({ last_attempt_at: last, next_attempt_at: next }: JsonObject): number {
  return (Number(next) - Number(last)) * 1_000;
}

/** Verifies with the library, as a receiver does. Throws when the signature is wrong. */
function verify({ headers, body }: ProviderCall, secret: string): JsonObject {
  const now = gateway.clock.now().getTime();
  const spy = jest.spyOn(Date, 'now').mockReturnValue(now);
  try {
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return readObject(new Webhook(secret).verify(body, given), 'body');
  } finally {
    spy.mockRestore();
  }
}

/** Verifies by hand, from the text of the specification. */
function signatureByHand({ headers, body }: ProviderCall, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

describe('an endpoint', () => {
  it('makes, reads, lists, changes and deletes an endpoint', async () => {
    const fields = { url: 'https://hooks.example.com/x?y=1', events: [EXHAUSTED], description: 'for the on-call' };
    const created = await admin.create('/v1/webhooks', fields);
    expect(created).toEqual({ id: expect.any(String), object: 'webhook-endpoint', secret: expect.any(String) });
    const path = `/v1/webhooks/${String(created['id'])}`;
    const whole = {
      ...fields,
      id: created['id'],
      object: 'webhook-endpoint',
      organisation_id: organisationId,
      workspace_id: null,
      format: 'standard',
      enabled: true,
      disabled_at: null,
      disabled_reason: null,
    };
    expect(await admin.read(path)).toEqual({
      ...whole,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect(await admin.list('/v1/webhooks')).toEqual([await admin.read(path)]);
    const changes = { url: 'https://hooks.example.com/z', events: ['*'], description: null };
    expect(jsonOf(await admin.patch(path, changes))).toMatchObject({ ...whole, ...changes });
    expect(jsonOf(await admin.put(path, { description: 'put' }))).toMatchObject({ ...changes, description: 'put' });
    expect((await admin.delete(path)).status).toBe(204);
    expect(refusalOf(await admin.get(path))).toEqual(NOT_FOUND);
  });

  it('accepts a new endpoint that is disabled', async () => {
    const fields = { url: 'https://hooks.example.com/x', events: ['*'], enabled: false };
    const { id } = await admin.create('/v1/webhooks', fields);
    expect(await admin.read(`/v1/webhooks/${String(id)}`)).toMatchObject({
      enabled: false,
      disabled_at: expect.any(Number),
      disabled_reason: 'administrator',
    });
  });

  it.each([
    [{ events: ['*'] }, 'url'],
    [{ url: 'https://a.example' }, 'events'],
    [{ url: 'https://a.example', events: [] }, 'events'],
    [{ url: 'https://a.example', events: 'usage_limit.reset' }, 'events'],
    [{ url: 'https://a.example', events: ['usage_limit.unknown'] }, 'events'],
    [{ url: 'https://a.example', events: ['usage_limit.*'] }, 'events'],
    [{ url: 'https://a.example', events: ['*', '*'] }, 'events'],
    [{ url: 'https://a.example', events: ['*'], description: 1 }, 'description'],
    [{ url: 'https://a.example', events: ['*'], enabled: 'no' }, 'enabled'],
    [{ url: 'https://a.example', events: ['*'], secret: 'whsec_mine' }, 'secret'],
    [{ url: 'https://a.example', events: ['*'], workspace_id: 1 }, 'workspace_id'],
    [{ url: 'no url', events: ['*'] }, 'url'],
    [{ url: 'https://a.exa\nmple', events: ['*'] }, 'url'],
    [{ url: `https://a.example/${'x'.repeat(2_048)}`, events: ['*'] }, 'url'],
  ])('names the field in the refusal of an endpoint: %j', async (body, param) => {
    const answer = await admin.post('/v1/webhooks', body);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
  });

  it.each([
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:169.254.169.254]',
    'https://10.1.2.3/hooks',
    'https://[fd00::1]/hooks',
    'https://0x0a000001/',
    'https://localhost:9000',
    'https://metadata.google.internal',
    'http://hooks.example.com',
    'https://user:pass@hooks.example.com',
    'file:///etc/passwd',
    'ftp://hooks.example.com',
    'https://hooks.example.com:0',
  ])('refuses the address %s in a create and in an update', async (url) => {
    const refused = { status: 400, code: 'validation_failed', param: 'url' };
    expect(refusalOf(await admin.post('/v1/webhooks', { url, events: ['*'] }))).toMatchObject(refused);
    const { path } = await make();
    expect(refusalOf(await admin.patch(path, { url }))).toMatchObject(refused);
    expect(refusalOf(await admin.put(path, { url }))).toMatchObject(refused);
  });

  it('hides an endpoint from other organisations on every route', async () => {
    const endpoint = await make();
    await admin.post(`${endpoint.path}/test`);
    const { id: delivery } = await deliveryOf(endpoint);
    const other = await addTenant(gateway, `webhooks-${randomUUID()}`);
    const { path } = endpoint;
    for (const answer of [
      await other.client.get(path),
      await other.client.patch(path, { enabled: false }),
      await other.client.post(`${path}/rotate-secret`, {}),
      await other.client.post(`${path}/test`),
      await other.client.get(`${path}/deliveries`),
      await other.client.post(`${path}/deliveries/${String(delivery)}/redeliver`),
      await other.client.delete(path),
    ]) {
      expect(refusalOf(answer)).toEqual(NOT_FOUND);
    }
    expect(await other.client.list('/v1/webhooks')).toEqual([]);
    expect(await admin.read(path)).toMatchObject({ enabled: true });
    const theirs = await make({ url: 'https://hooks.example.com' }, other.client);
    const elsewhere = `${theirs.path}/deliveries/${String(delivery)}/redeliver`;
    expect(refusalOf(await other.client.post(elsewhere))).toEqual(NOT_FOUND);
  });

  it('puts an endpoint into the workspace of its maker, or into none', async () => {
    const [mine, theirs] = [await admin.createWorkspace('Mine'), await admin.createWorkspace('Theirs')];
    const scopes = ['webhooks.create', 'webhooks.read', 'webhooks.list', 'webhooks.update', 'webhooks.delete'];
    const { client } = await admin.createKey({ level: 'workspace', workspace_id: mine, scopes });
    const [own, shared] = [await make({}, client), await make()];
    expect(await client.read(own.path)).toMatchObject({ workspace_id: mine });
    expect(await admin.read(shared.path)).toMatchObject({ workspace_id: null });
    expect(await client.list('/v1/webhooks')).toHaveLength(1);
    expect(refusalOf(await client.get(shared.path))).toEqual(NOT_FOUND);
    const body = { url: 'https://hooks.example.com', events: ['*'], workspace_id: theirs };
    expect(refusalOf(await client.post('/v1/webhooks', body))).toMatchObject({ status: 403, code: 'tenant_mismatch' });
  });

  it('audits an endpoint without its secret', async () => {
    const { id, path } = await make({ description: 'Audited' });
    await admin.patch(path, { url: `${receiver.url}/other`, enabled: false });
    await admin.post(`${path}/rotate-secret`, {});
    await admin.delete(path);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual([
      'webhooks.delete',
      'webhooks.rotate_secret',
      'webhooks.update',
      'webhooks.create',
    ]);
    expect(new Set(readArray(entries[2]?.['changed_fields'], 'changed_fields'))).toEqual(new Set(['url', 'enabled']));
    expect(JSON.stringify(entries)).not.toMatch(/whsec_/);
  });
});

describe('its secret', () => {
  it('generates a secret of 32 random bytes, and shows it only in the answers to a create and a rotation', async () => {
    const [first, second] = [await make(), await make()];
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(first.secret).not.toBe(second.secret);
    await admin.post(`${first.path}/test`);
    await deliveryOf(first);
    const answers = [
      await admin.get(first.path),
      await admin.get('/v1/webhooks'),
      await admin.patch(first.path, { description: 'changed' }),
      await admin.get(`${first.path}/deliveries`),
    ];
    for (const { text: shown } of answers) expect(shown).not.toMatch(/whsec|secret|sealed|v1\./);
    expect(gateway.log()).toContain('"webhook_attempt"');
    expect(gateway.log()).not.toContain(first.secret.slice(6));
  });

  it('stores no secret of an endpoint in plain text, also after a rotation', async () => {
    const { secret, path } = await make();
    const rotated = jsonOf(await admin.post(`${path}/rotate-secret`, {}));
    const dump: unknown[] = [];
    for (const { tableName } of gateway.dataSource.entityMetadatas) {
      dump.push(await gateway.dataSource.query(`SELECT "t"::text FROM "${tableName}" AS "t"`));
    }
    const everything = JSON.stringify(dump);
    expect(everything).toContain(receiver.url);
    for (const shown of [secret, readString(rotated['secret'], 'secret')]) {
      const bytes = Buffer.from(shown.slice(6), 'base64');
      for (const form of [shown.slice(6, -1), bytes.toString('hex'), bytes.toString('base64url')]) {
        expect(everything).not.toContain(form);
      }
    }
  });

  it('signs with the new and the previous secret while a rotation is in progress', async () => {
    const { secret, path } = await make();
    const rotated = jsonOf(await admin.post(`${path}/rotate-secret`, { transition_seconds: 3_600 }));
    const nowSeconds = Math.floor(gateway.clock.now().getTime() / 1_000);
    expect(Number(rotated['previous_valid_until'])).toBeGreaterThan(nowSeconds + 3_590);
    const newSecret = readString(rotated['secret'], 'secret');
    await happen();
    await arrived(1);
    const call = onlyCall(receiver);
    expect(String(call.headers['webhook-signature']).split(' ')).toEqual([
      signatureByHand(call, newSecret),
      signatureByHand(call, secret),
    ]);
    verify(call, secret);
    verify(call, newSecret);
    receiver.forget();
    advance(2 * HOUR_MS);
    await happen();
    await arrived(1);
    verify(onlyCall(receiver), newSecret);
    expect(() => verify(onlyCall(receiver), secret)).toThrow('No matching signature');
  });

  it('ends the previous secret at once when the rotation requests it', async () => {
    const { secret, path } = await make();
    const rotated = jsonOf(await admin.post(`${path}/rotate-secret`, { transition_seconds: 0 }));
    expect(rotated).toMatchObject({ object: 'webhook-endpoint', previous_valid_until: null });
    await happen();
    await arrived(1);
    expect(() => verify(onlyCall(receiver), secret)).toThrow('No matching signature');
    verify(onlyCall(receiver), readString(rotated['secret'], 'secret'));
    const answer = await admin.post(`${path}/rotate-secret`, { transition_seconds: -1 });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'transition_seconds' });
  });

  it('replaces a secret that does not open with a rotation', async () => {
    const endpoint = await make();
    await gateway.dataSource.query(`UPDATE "webhook_endpoints" SET "sealed_secret" = 'v1.gone.x.y'`);
    await happen();
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'pending', last_error: 'secret_unavailable' });
    expect(receiver.calls).toEqual([]);
    const rotated = jsonOf(await admin.post(`${endpoint.path}/rotate-secret`, {}));
    advance(10_000);
    await arrived(1);
    verify(onlyCall(receiver), readString(rotated['secret'], 'secret'));
  });
});

describe('a delivery', () => {
  it('signs a delivery as Standard Webhooks requires, verified by the library and by hand', async () => {
    const { secret } = await make();
    const payload = { policy_id: 'p-1', credit_limit: 12.5, bucket: { id: 'b', value_key: 'api_key:k' } };
    await happen({ payload });
    await arrived(1);
    const call = onlyCall(receiver);
    expect([call.method, call.path]).toEqual(['POST', '/hooks']);
    expect(call.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Tollgate-Webhooks',
      'webhook-signature': signatureByHand(call, secret),
    });
    expect(verify(call, secret)).toEqual({ type: EXHAUSTED, timestamp: expect.any(String), data: payload });
    expect(Math.abs(gateway.clock.now().getTime() / 1_000 - Number(call.headers['webhook-timestamp']))).toBeLessThan(
      10,
    );
    expect(() => verify({ ...call, body: call.body.replace('12.5', '99.5') }, secret)).toThrow('No matching signature');
  });

  it('sends no headers of the gateway: no keys, no traces', async () => {
    await make();
    await happen();
    await arrived(1);
    const names = Object.keys(onlyCall(receiver).headers).filter((name) =>
      /gateway|authorization|cookie|trace/.test(name),
    );
    expect(names).toEqual([]);
  });

  it('lists a delivery in the log of its endpoint, and finds it by its status', async () => {
    const endpoint = await make();
    await happen();
    const delivery = await deliveryOf(endpoint);
    expect(delivery).toEqual({
      id: expect.any(String),
      object: 'webhook-delivery',
      webhook_endpoint_id: endpoint.id,
      event_id: onlyCall(receiver).headers['webhook-id'],
      event_type: EXHAUSTED,
      status: 'succeeded',
      attempts: 1,
      next_attempt_at: null,
      last_attempt_at: expect.any(Number),
      last_status_code: 204,
      last_error: null,
      last_latency_ms: expect.any(Number),
      completed_at: expect.any(Number),
      created_at: expect.any(Number),
    });
    expect(await admin.list(`${endpoint.path}/deliveries?status=succeeded`)).toEqual([delivery]);
    expect(await admin.list(`${endpoint.path}/deliveries?status=failed`)).toEqual([]);
    const eventId = String(delivery['event_id']);
    for (const query of [
      `event=${EXHAUSTED}`,
      'search=EXHAUST',
      `search=${eventId}`,
      `search=${String(delivery['id'])}`,
    ]) {
      expect(await admin.list(`${endpoint.path}/deliveries?${query}`)).toEqual([delivery]);
    }
    for (const query of ['event=webhook.test', 'search=refused', `search=${endpoint.id}`]) {
      expect(await admin.list(`${endpoint.path}/deliveries?${query}`)).toEqual([]);
    }
    const unknown = await admin.get(`${endpoint.path}/deliveries?event=usage_limit.*`);
    expect(refusalOf(unknown)).toMatchObject({ status: 400, param: 'event' });
    expect(await admin.read(`${endpoint.path}/deliveries?current_page=1`)).toMatchObject({ data: [], total: 1 });
    const answer = await admin.get(`${endpoint.path}/deliveries?status=lost`);
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'status' });
  });

  it('sends an event once to every endpoint that subscribed to its type', async () => {
    const [all, some, others] = [
      await make({ url: `${receiver.url}/all` }),
      await make({ url: `${receiver.url}/some`, events: ['usage_limit.reset', EXHAUSTED] }),
      await make({ url: `${receiver.url}/others`, events: ['usage_limit.threshold_reached'] }),
    ];
    await happen({ dedupeKey: 'once' });
    await happen({ dedupeKey: 'once' });
    await Promise.all([deliveryOf(all), deliveryOf(some)]);
    expect(receiver.calls.map(({ path }) => path).sort()).toEqual(['/all', '/some']);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await admin.list(`${others.path}/deliveries`)).toEqual([]);
  });

  it('sends an event of a workspace to endpoints of that workspace and of its organisation only', async () => {
    const [mine, theirs] = [await admin.createWorkspace('Own events'), await admin.createWorkspace('Their events')];
    const other = await addTenant(gateway, `events-${randomUUID()}`);
    await make({ url: `${receiver.url}/mine`, workspace_id: mine });
    await make({ url: `${receiver.url}/theirs`, workspace_id: theirs });
    await make({ url: `${receiver.url}/shared` });
    await make({ url: `${receiver.url}/foreign` }, other.client);
    await happen({ workspace: mine });
    await happen({ workspace: null });
    await happen({ organisation: other.organisationId, workspace: other.workspaceId });
    await arrived(4);
    await gateway.dataSource.query('SELECT 1');
    expect(receiver.calls.map(({ path }) => path).sort()).toEqual(['/foreign', '/mine', '/shared', '/shared']);
  });

  it('keeps every digit of a figure in a delivery', async () => {
    await make();
    await gateway.dataSource.query(
      `INSERT INTO "webhook_outbox" ("organisation_id", "type", "payload") VALUES ($1, $2, '{"credit_limit": 9007199254740993.000000001}')`,
      [organisationId, EXHAUSTED],
    );
    wake();
    await arrived(1);
    expect(onlyCall(receiver).body).toContain('9007199254740993.000000001');
  });

  it('does not send a delivery whose body is too large, and records the reason', async () => {
    const endpoint = await make();
    await happen({ payload: { text: 'x'.repeat(20_000) } });
    await eventually(async () => (await admin.list(`${endpoint.path}/deliveries?status=failed`)).length === 1);
    expect(await admin.list(`${endpoint.path}/deliveries`)).toMatchObject([
      { status: 'failed', attempts: 0, last_error: 'event_too_large' },
    ]);
    expect(receiver.calls).toEqual([]);
  });
});

describe('a delivery that fails', () => {
  it('tries a delivery ten times over three days with the same id, and then gives it up', async () => {
    receiver.replyWith(json({ error: 'no' }, 500));
    const endpoint = await make();
    await happen();
    const waits: number[] = [];
    for (let attempt = 1; attempt < 10; attempt += 1) {
      const delivery = await deliveryOf(endpoint, attempt);
      expect(delivery).toMatchObject({ status: 'pending', attempts: attempt, last_status_code: 500 });
      waits.push(waitOf(delivery));
      advance(waitOf(delivery) + 1_000);
    }
    expect(await deliveryOf(endpoint, 10)).toMatchObject({ status: 'failed', attempts: 10, next_attempt_at: null });
    const minimum = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual((minimum[index] ?? 0) - 1_000);
      expect(wait).toBeLessThanOrEqual((minimum[index] ?? 0) * 1.2 + 1_000);
    }
    expect(receiver.calls).toHaveLength(10);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
    expect(new Set(receiver.calls.map(({ body }) => body)).size).toBe(1);
    verify(receiver.calls[9] ?? onlyCall(receiver), endpoint.secret);
    advance(30 * DAY_MS);
    await happen({ type: 'usage_limit.reset' });
    await arrived(11);
    expect(receiver.calls).toHaveLength(11);
  });

  it.each([
    ['an error of its own', json({}, 400), { last_status_code: 400, last_error: null }],
    ['a redirect, which is not followed', json({}, 302, { location: '/elsewhere' }), { last_error: 'redirect' }],
    ['no answer but a closed connection', hangUp, { last_status_code: null, last_error: 'broken' }],
    ['an answer that is too long', text('x'.repeat(100_000), 'text/plain'), { last_error: 'too_large' }],
  ])('sends a delivery again after %s, once the receiver has recovered', async (_what, reply, noted) => {
    receiver.replyWith(inTurn(reply, THANKS));
    const endpoint = await make();
    await happen();
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'pending', attempts: 1, ...noted });
    advance(10_000);
    expect(await deliveryOf(endpoint, 2)).toMatchObject({ status: 'succeeded', attempts: 2, last_status_code: 204 });
    expect(receiver.calls.map(({ path }) => path)).toEqual(['/hooks', '/hooks']);
  });

  it.each([
    ['3600', HOUR_MS, HOUR_MS],
    ['1', 4_000, 7_000],
    ['999999999', DAY_MS, DAY_MS],
    ['soon', 4_000, 7_000],
  ])('waits as long as Retry-After: %s asks, within bounds', async (retryAfter, atLeast, atMost) => {
    receiver.replyWith(json({}, 429, { 'retry-after': retryAfter }));
    const endpoint = await make();
    await happen();
    const wait = waitOf(await deliveryOf(endpoint));
    expect(wait).toBeGreaterThanOrEqual(atLeast);
    expect(wait).toBeLessThanOrEqual(atMost);
  });

  it.each([
    'https://10.0.0.1/hooks',
    'https://169.254.169.254/latest',
    'http://hooks.example.com/',
    'https://localhost/',
  ])('records that a delivery failed because its address is now refused: %s', async (url) => {
    const endpoint = await make();
    await gateway.dataSource.query('UPDATE "webhook_endpoints" SET "url" = $1', [url]);
    await happen();
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'pending', last_error: 'refused_by_egress' });
  });
});

describe('an endpoint that returns 410', () => {
  it('disables an endpoint that returns 410 until it is enabled again, with an audit entry', async () => {
    receiver.replyWith(text('', 'text/plain', 410));
    const endpoint = await make();
    await happen();
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'failed', attempts: 1, last_status_code: 410 });
    const read = await admin.read(endpoint.path);
    expect(read).toMatchObject({ enabled: false, disabled_reason: 'gone', disabled_at: expect.any(Number) });
    const [entry] = await admin.list(`/v1/audit-logs?resource=${endpoint.id}`);
    expect(entry).toMatchObject({ action: 'webhooks.disable', actor_type: 'gateway', changed_fields: ['enabled'] });
    receiver.replyWith(THANKS);
    await happen();
    expect(jsonOf(await admin.patch(endpoint.path, { enabled: true }))).toMatchObject({
      enabled: true,
      disabled_at: null,
      disabled_reason: null,
    });
    await happen();
    await arrived(2);
    expect(receiver.calls).toHaveLength(2);
  });
});

describe('a previous address of an endpoint that returns 410', () => {
  it('keeps the endpoint enabled, and sends the event to its new address', async () => {
    let answer = (): void => undefined;
    receiver.replyWith((response) => {
      answer = () => response.writeHead(410).end();
    });
    const { path } = await make({ url: `${receiver.url}/old` });
    await happen();
    await arrived(1);
    await admin.patch(path, { url: `${receiver.url}/new` });
    receiver.replyWith(THANKS);
    answer();
    await eventually(async () => (await admin.list(`${path}/deliveries`))[0]?.['attempts'] === 1);
    expect(await admin.read(path)).toMatchObject({ enabled: true });
    advance(10_000);
    await arrived(2);
    await eventually(async () => (await admin.list(`${path}/deliveries?status=succeeded`)).length === 1);
    expect(receiver.calls.map((call) => call.path)).toEqual(['/old', '/new']);
  });
});

describe('a disabled endpoint', () => {
  it('sends a disabled endpoint neither new events nor waiting ones', async () => {
    receiver.replyWith(json({}, 503));
    const off = await make({ url: `${receiver.url}/off` });
    const on = await make({ url: `${receiver.url}/on`, events: [EXHAUSTED] });
    await happen();
    await Promise.all([deliveryOf(off), deliveryOf(on)]);
    expect(jsonOf(await admin.patch(off.path, { enabled: false }))).toMatchObject({
      enabled: false,
      disabled_reason: 'administrator',
    });
    receiver.forget();
    receiver.replyWith(THANKS);
    await happen();
    advance(10_000);
    await arrived(2);
    await eventually(async () => (await admin.list(`${off.path}/deliveries?status=failed`)).length === 1);
    expect(await deliveryOf(off)).toMatchObject({ attempts: 1, last_error: 'endpoint_disabled' });
    expect(receiver.calls.map(({ path }) => path)).toEqual(['/on', '/on']);
  });

  it('refuses a test and a redelivery to a disabled endpoint', async () => {
    const endpoint = await make();
    await happen();
    const { id } = await deliveryOf(endpoint);
    await admin.patch(endpoint.path, { enabled: false });
    const refused = { status: 409, code: 'conflict' };
    expect(refusalOf(await admin.post(`${endpoint.path}/test`))).toMatchObject(refused);
    const again = `${endpoint.path}/deliveries/${String(id)}/redeliver`;
    expect(refusalOf(await admin.post(again))).toMatchObject(refused);
    expect(receiver.calls).toHaveLength(1);
  });
});

describe('a test', () => {
  it('sends a test to its endpoint alone, whatever event types it subscribed to', async () => {
    const [tested, other] = [
      await make({ events: ['usage_limit.reset'], url: `${receiver.url}/tested` }),
      await make({ url: `${receiver.url}/other` }),
    ];
    const answer = await admin.post(`${tested.path}/test`);
    expect(answer.status).toBe(202);
    expect(jsonOf(answer)).toMatchObject({ object: 'webhook-delivery', status: 'pending', event_type: 'webhook.test' });
    await deliveryOf(tested);
    const call = onlyCall(receiver);
    expect(call.path).toBe('/tested');
    expect(verify(call, tested.secret)).toMatchObject({
      type: 'webhook.test',
      data: { webhook_endpoint_id: tested.id },
    });
    expect(await admin.list(`${other.path}/deliveries`)).toEqual([]);
    expect(refusalOf(await admin.post(`/v1/webhooks/${randomUUID()}/test`))).toEqual(NOT_FOUND);
  });
});

onServer('an endpoint that goes meanwhile (needs DATABASE_URL: the embedded database has one session)', () => {
  let session: BlockingSession;

  beforeAll(async () => {
    if (databaseServer !== undefined) session = await BlockingSession.open();
  });

  afterAll(() => session.close());

  it('returns 404 for a test and a redelivery while the endpoint is being deleted', async () => {
    const endpoint = await make();
    await happen();
    const { id } = await deliveryOf(endpoint);
    await session.begin('DELETE FROM "webhook_endpoints" WHERE "id" = $1', [endpoint.id]);
    const answers = await session.commitAfter([
      () => admin.post(`${endpoint.path}/test`),
      () => admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`),
    ]);
    expect(answers.map(refusalOf)).toEqual([NOT_FOUND, NOT_FOUND]);
  });

  it('refuses a test while the endpoint is being disabled', async () => {
    const endpoint = await make();
    await session.begin('UPDATE "webhook_endpoints" SET "disabled_at" = now() WHERE "id" = $1', [endpoint.id]);
    const answers = await session.commitAfter([() => admin.post(`${endpoint.path}/test`)]);
    expect(answers.map(refusalOf)).toMatchObject([{ status: 409, code: 'conflict' }]);
    expect(await admin.list(`${endpoint.path}/deliveries`)).toEqual([]);
  });
});

describe('a redelivery', () => {
  it('sends a delivery that succeeded or failed once more, under the same id', async () => {
    const endpoint = await make();
    await happen({ payload: { n: 1 } });
    const { id } = await deliveryOf(endpoint);
    const answer = await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`);
    expect(answer.status).toBe(202);
    expect(jsonOf(answer)).toMatchObject({ id, status: 'pending', attempts: 0, completed_at: null });
    await arrived(2);
    expect(await deliveryOf(endpoint)).toMatchObject({ id, status: 'succeeded', attempts: 1 });
    const [first, second] = receiver.calls;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
  });

  it('sends a waiting delivery ahead of its time, and starts its schedule again', async () => {
    receiver.replyWith(inTurn(json({}, 429, { 'retry-after': '80000' }), THANKS));
    const endpoint = await make();
    await happen();
    const { id } = await deliveryOf(endpoint);
    const answer = await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`);
    expect(jsonOf(answer)).toMatchObject({ id, status: 'pending', attempts: 0 });
    await arrived(2);
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('does not send a delivery twice at the same time', async () => {
    let answer = (): void => undefined;
    receiver.replyWith((response) => {
      answer = () => response.writeHead(204).end();
    });
    const endpoint = await make();
    await happen();
    await arrived(1);
    const [{ id, ...sending } = { id: '' }] = await admin.list(`${endpoint.path}/deliveries`);
    expect(sending).toMatchObject({ status: 'pending', next_attempt_at: null });
    expect((await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`)).status).toBe(202);
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer();
    await deliveryOf(endpoint);
    // A later event that has arrived shows that no earlier one is still being sent.
    receiver.replyWith(json({}));
    await happen();
    await arrived(2);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });

  it('starts the schedule with the attempt in progress when a redelivery is requested during it', async () => {
    const endpoint = await make();
    receiver.replyWith(json({}, 500));
    await happen();
    const { id } = await deliveryOf(endpoint);
    let answer = (): void => undefined;
    receiver.replyWith((response) => {
      answer = () => response.writeHead(500).end();
    });
    await gateway.dataSource.query('UPDATE "webhook_deliveries" SET "attempts" = 9 WHERE "id" = $1', [id]);
    advance(10_000);
    await arrived(2);
    const asked = await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`);
    expect(jsonOf(asked)).toMatchObject({ attempts: 0, next_attempt_at: null });
    answer();
    expect(await deliveryOf(endpoint)).toMatchObject({ status: 'pending', attempts: 1, last_status_code: 500 });
  });

  it('audits a redelivery with its delivery, as it does a test, and writes no entry when it is refused', async () => {
    const endpoint = await make();
    await admin.post(`${endpoint.path}/test`);
    const { id } = await deliveryOf(endpoint);
    await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`);
    await admin.post(`${endpoint.path}/deliveries/${randomUUID()}/redeliver`);
    await admin.patch(endpoint.path, { enabled: false });
    await admin.post(`${endpoint.path}/deliveries/${String(id)}/redeliver`);
    await admin.post(`${endpoint.path}/test`);
    const entries = await admin.list(`/v1/audit-logs?resource=${endpoint.id}`);
    expect(entries.map(({ action, changed_fields }) => [action, changed_fields])).toEqual([
      ['webhooks.update', ['enabled']],
      ['webhooks.redeliver', [`deliveries.${String(id)}`]],
      ['webhooks.test', [`deliveries.${String(id)}`]],
      ['webhooks.create', ['url', 'events']],
    ]);
    expect(entries[1]).toMatchObject({ actor_type: 'api_key', resource_type: 'webhook-endpoint', workspace_id: null });
  });

  it('returns 404 for the redelivery of an unknown delivery', async () => {
    const { path } = await make();
    for (const id of [randomUUID(), 'nothing']) {
      expect(refusalOf(await admin.post(`${path}/deliveries/${id}/redeliver`))).toEqual(NOT_FOUND);
    }
  });
});

describe('a receiver that does not answer', () => {
  it('does not let a slow receiver delay others, and sends it no more than four deliveries at a time', async () => {
    const slow = await startFakeProvider();
    slow.replyWith(silence);
    await make({ url: slow.url });
    await make();
    for (let number = 0; number < 10; number += 1) await happen({ payload: { number } });
    await arrived(10);
    expect(slow.calls).toHaveLength(4);
    expect(new Set(receiver.calls.map(({ body }) => body)).size).toBe(10);
    await slow.close();
  });
});

describe('receivers of one organisation that do not answer', () => {
  it('does not let slow receivers of one organisation delay another organisation', async () => {
    const slow = await startFakeProvider();
    slow.replyWith(silence);
    const other = await addTenant(gateway, `slow-webhooks-${randomUUID()}`);
    for (let number = 0; number < 17; number += 1) await make({ url: slow.url }, other.client);
    for (let number = 0; number < 4; number += 1) await happen({ organisation: other.organisationId });
    await eventually(() => slow.calls.length >= 48);
    await make();
    await happen();
    await arrived(1);
    expect(slow.calls).toHaveLength(48);
    await slow.close();
  });

  it('claims deliveries in turn across organisations, also when those of one have waited for longer', async () => {
    const { app, clock, dataSource } = gateway;
    const other = await addTenant(gateway, `turns-${randomUUID()}`);
    const [ours, theirs] = [await make(), await make({}, other.client)];
    const wait = async (endpoint: Made, organisation: string, seconds: number): Promise<void> => {
      const due = new Date(clock.now().getTime() + HOUR_MS + seconds * 1_000);
      await dataSource.query(
        `WITH event AS (
           INSERT INTO "webhook_outbox" ("organisation_id", "type", "payload", "dispatched_at")
           VALUES ($1, $2, '{}', now()) RETURNING "id"
         )
         INSERT INTO "webhook_deliveries" ("organisation_id", "outbox_id", "endpoint_id", "event_type", "next_attempt_at")
         SELECT $1, "id", $3, $2, $4 FROM event`,
        [organisation, EXHAUSTED, endpoint.id, due],
      );
    };
    for (const seconds of [0, 1, 2]) await wait(theirs, other.organisationId, seconds);
    for (const seconds of [10, 11]) await wait(ours, organisationId, seconds);
    const later = new TestClock();
    later.advance(clock.now().getTime() - later.now().getTime() + 2 * HOUR_MS);
    const store = app.get(WebhookEndpointStore, { strict: false });
    const queue = new WebhookDeliveryQueue(dataSource.getRepository(WebhookDelivery), store, later);
    const claim = async (free: number, running: Readonly<Record<string, number>>): Promise<readonly string[]> => {
      const counts = { byEndpoint: new Map<string, number>(), byOrganisation: new Map(Object.entries(running)) };
      const claimed = await queue.claim({ free, perEndpoint: 4, perOrganisation: 2, running: counts });
      return claimed.map(({ endpoint }) => (endpoint.id === ours.id ? 'ours' : 'theirs')).sort();
    };
    expect(await claim(2, {})).toEqual(['ours', 'theirs']);
    expect(await claim(1, { [other.organisationId]: 1 })).toEqual(['ours']);
    expect(await claim(4, { [other.organisationId]: 1 })).toEqual(['theirs']);
    expect(await claim(4, { [other.organisationId]: 2 })).toEqual([]);
  });
});

describe('several gateways on one database', () => {
  /** Their clocks agree with each other, however tests have moved the clock of this gateway. */
  async function startReplica(settings: Readonly<Record<string, string>> = {}): Promise<TestApp> {
    const replica = await startTestApp(settings, true);
    replica.clock.advance(gateway.clock.now().getTime() - replica.clock.now().getTime());
    wake(replica);
    return replica;
  }

  it('sends each event once to each endpoint from several gateways', async () => {
    const replica = await startReplica();
    try {
      for (const name of ['a', 'b', 'c']) await make({ url: `${receiver.url}/${name}` });
      for (let number = 0; number < 40; number += 1) {
        await happen({ payload: { number } });
        wake(replica);
      }
      await arrived(120);
      await eventually(async () => (await countOf('pending')) === 0);
      const sent = receiver.calls.map(({ path, body }) => `${path} ${body}`);
      expect(sent).toHaveLength(120);
      expect(new Set(sent).size).toBe(120);
      expect(await countOf('succeeded')).toBe(120);
    } finally {
      await replica.close();
    }
  });

  it('takes over the deliveries of a gateway that died, but only after its lease', async () => {
    const endpoint = await make();
    await happen();
    const { id } = await deliveryOf(endpoint);
    const inAMinute = new Date(gateway.clock.now().getTime() + MINUTE_MS);
    await gateway.dataSource.query(
      `UPDATE "webhook_deliveries" SET "status" = 'pending', "attempts" = 0, "claim_id" = gen_random_uuid(), "next_attempt_at" = $1`,
      [inAMinute],
    );
    wake();
    await happen({ type: 'usage_limit.reset' });
    await arrived(2);
    await eventually(async () => (await countOf('pending')) === 1);
    expect(await admin.list(`${endpoint.path}/deliveries?status=pending`)).toMatchObject([{ id }]);
    advance(MINUTE_MS + 1_000);
    await arrived(3);
    expect(receiver.calls[2]?.headers['webhook-id']).toBe(receiver.calls[0]?.headers['webhook-id']);
  });

  it('hands over unfinished deliveries at once when a gateway stops', async () => {
    const slow = await startFakeProvider();
    slow.replyWith(silence);
    const endpoint = await make({ url: slow.url });
    for (let number = 0; number < 8; number += 1) await happen({ payload: { number } });
    await eventually(() => slow.calls.length === 4);
    // This gateway is busy with four deliveries, so the replica sends the other four.
    const replica = await startReplica({ SHUTDOWN_GRACE_MS: '0' });
    await eventually(() => slow.calls.length === 8);
    expect(await countOf('pending', '"claim_id" IS NULL')).toBe(0);
    await replica.close();
    expect(await countOf('pending', '"claim_id" IS NULL AND "attempts" = 0')).toBe(4);
    const due = gateway.clock.now().getTime() / 1_000;
    const planned = (await admin.list(`${endpoint.path}/deliveries`)).map((delivery) => delivery['next_attempt_at']);
    expect(planned.filter((at) => at !== null && Number(at) <= due)).toHaveLength(4);
    await slow.close();
  });
});

describe('retention', () => {
  it('deletes deliveries and events after a month, and keeps failed deliveries and events with a deduplication key', async () => {
    const well = await make({ events: [EXHAUSTED] });
    const ill = await make({ url: `${receiver.url}/ill`, events: [EXHAUSTED] });
    receiver.replyWith((response, { path }) => response.writeHead(path === '/ill' ? 410 : 204).end());
    await happen({ dedupeKey: 'kept' });
    await admin.post(`${well.path}/test`);
    await arrived(3);
    await eventually(async () => (await countOf('pending')) === 0);
    const retention = gateway.app.get(WebhookRetention, { strict: false });
    await retention.sweep();
    expect(await countOf('succeeded')).toBe(2);
    gateway.clock.advance(31 * DAY_MS);
    await retention.sweep();
    expect([await countOf('succeeded'), await countOf('failed')]).toEqual([0, 1]);
    expect(await admin.list(`${ill.path}/deliveries`)).toHaveLength(1);
    const events: unknown[] = await gateway.dataSource.query(
      `SELECT "dedupe_key" FROM "webhook_outbox" WHERE "type" <> 'webhook.disabled'`,
    );
    expect(events).toEqual([{ dedupe_key: 'kept' }]);
  });
});

onServer('retention beside another replica', () => {
  it.each([
    ['deliveries', `DELETE FROM "webhook_deliveries" WHERE "id" IN (SELECT "id" FROM "webhook_deliveries" LIMIT 1)`, 1],
    ['events', `SELECT 1 FROM "webhook_outbox" ORDER BY "id" LIMIT 1 FOR UPDATE`, 0],
  ])('skips the %s that another replica is deleting', async (_what, holding, deliveriesLeft) => {
    await make();
    for (let number = 0; number < 3; number += 1) await happen({ payload: { number } });
    await arrived(3);
    await eventually(async () => (await countOf('succeeded')) === 3);
    gateway.clock.advance(31 * DAY_MS);
    const runner = gateway.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(holding);
      await gateway.app.get(WebhookRetention, { strict: false }).sweep();
      await runner.rollbackTransaction();
    } finally {
      await runner.release();
    }
    const events: unknown[] = await gateway.dataSource.query('SELECT 1 FROM "webhook_outbox"');
    expect([await countOf('succeeded'), events.length]).toEqual([deliveriesLeft, 1]);
  });
});

async function countOf(status: string, condition = 'true'): Promise<number> {
  const [row]: readonly unknown[] = await gateway.dataSource.query(
    `SELECT count(*)::int AS "count" FROM "webhook_deliveries" WHERE "status" = $1 AND ${condition}`,
    [status],
  );
  return isObject(row) ? Number(row['count']) : -1;
}
