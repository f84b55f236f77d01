// A response that continues another one goes to the account that keeps it, whatever the weights of a model route say.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ResponsePin } from '../src/gateway/routing/response-pin.entity.js';
import { ResponsePinRetention } from '../src/gateway/routing/response-pin.retention.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, json, type Reply, startFakeProvider, text } from './support/fake-provider.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { GatewayClient } from './support/gateway-client.js';
import { onServer } from './support/services.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const CALLS = 12;
const DAY_MS = 86_400_000;

let gateway: UsageGateway;
let second: FakeProvider;
let organisationId: string;
let ids: readonly string[];
let slugs: readonly string[];
let name: string;
let made = 0;

beforeAll(async () => {
  gateway = await startUsageGateway();
  second = await startFakeProvider();
  organisationId = String((await gateway.admin.read('/v1/workspaces/default'))['organisation_id']);
});
beforeEach(async () => {
  await gateway.reset();
  made += 1;
  name = `pinned ${made}`;
  gateway.provider.forget();
  second.forget();
  gateway.provider.replyWith(json(response(`first-${made}`)));
  second.replyWith(json(response(`second-${made}`)));
  slugs = [
    await gateway.virtualKey('openai-compatible'),
    await gateway.virtualKey('openai-compatible', { config: { base_url: second.url } }),
  ];
  const keys = await Promise.all(slugs.map((slug) => gateway.admin.read(`/v1/virtual-keys/${slug}`)));
  ids = keys.map(({ id }) => String(id));
  const targets = slugs.map((slug) => ({ virtual_key: slug, model: 'm', weight: 1 }));
  await gateway.admin.create('/v1/model-routes', { name, targets });
});
afterAll(async () => {
  await gateway.close();
  await second.close();
});

function response(id: string): object {
  return { id, object: 'response', status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } };
}

/** As JSON, or as a stream of two events. */
function madeAs(id: string, isStream: boolean): Reply {
  if (!isStream) return json(response(id));
  const events = ['created', 'completed'].map((what) => ({ type: `response.${what}`, response: response(id) }));
  return text(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), 'text/event-stream');
}

function respond(more: object = {}): Promise<Answer> {
  return gateway.admin.post('/v1/responses', { model: name, input: 'hi', max_output_tokens: 16, ...more });
}

/** How many calls each provider got, of those that continue this response. */
async function shares(previous: string): Promise<readonly number[]> {
  gateway.provider.forget();
  second.forget();
  for (let at = 0; at < CALLS; at += 1) await respond({ previous_response_id: previous });
  return [gateway.provider.calls.length, second.calls.length];
}

function pins(): Promise<readonly ResponsePin[]> {
  return gateway.app.dataSource.getRepository(ResponsePin).findBy({ organisationId });
}

describe('a response of a model route with several targets', () => {
  it('is continued where it was made, as JSON and as a stream', async () => {
    await respond();
    const wasFirst = gateway.provider.calls.length === 1;
    const previous = `${wasFirst ? 'first' : 'second'}-${made}`;
    expect(await shares(previous)).toEqual(wasFirst ? [CALLS, 0] : [0, CALLS]);
    const created = JSON.stringify({ type: 'response.created', response: response('streamed') });
    const completed = JSON.stringify({ type: 'response.completed', response: response('streamed') });
    const events = text(`data: ${created}\n\ndata: ${completed}\n\n`, 'text/event-stream');
    gateway.provider.replyWith(events);
    second.replyWith(json({ error: { message: 'no' } }, 500));
    await respond({ stream: true });
    second.replyWith(json(response('x')));
    gateway.provider.replyWith(json(response('y')));
    expect(await shares('streamed')).toEqual([CALLS, 0]);
  });

  it('is continued there by a gateway that did not make it', async () => {
    const [, virtualKeyId = ''] = ids;
    const row = { organisationId, responseId: 'made-elsewhere', virtualKeyId, createdAt: new Date() };
    await gateway.app.dataSource.getRepository(ResponsePin).insert(row);
    expect(await shares('made-elsewhere')).toEqual([0, CALLS]);
  });

  it('is written down, unless it is not stored', async () => {
    gateway.provider.replyWith(json(response('kept')));
    second.replyWith(json(response('kept')));
    await respond();
    await eventually(async () => (await pins()).some(({ responseId }) => responseId === 'kept'));
    gateway.provider.replyWith(json(response('unstored')));
    second.replyWith(json(response('unstored')));
    await respond({ store: false });
    gateway.provider.replyWith(json(response('last')));
    second.replyWith(json(response('last')));
    await respond();
    await eventually(async () => (await pins()).some(({ responseId }) => responseId === 'last'));
    expect((await pins()).map(({ responseId }) => responseId)).not.toContain('unstored');
  });
});

onServer('a response that another gateway has just made', () => {
  const CONVERSATIONS = 10;
  const FOLLOWING = { model: '', input: 'hi', max_output_tokens: 16 };
  let replica: TestApp;
  let other: GatewayClient;

  beforeAll(async () => {
    replica = await startTestApp({}, true);
    other = new GatewayClient(replica.url).as(ADMIN_KEY);
  });
  afterAll(() => replica.close());

  it.each([false, true])('is continued where it was made at once, streamed: %s', async (stream) => {
    await eventually(async () => {
      replica.clock.advance(10_000);
      return (await other.post('/v1/responses', { ...FOLLOWING, model: name })).status === 200;
    });
    for (let at = 0; at < CONVERSATIONS; at += 1) {
      gateway.provider.replyWith(madeAs(`first-${stream}-${at}`, stream));
      second.replyWith(madeAs(`second-${stream}-${at}`, stream));
      const made = await respond({ stream });
      const [previous_response_id] = /(first|second)-(true|false)-\d+/.exec(made.text) ?? [];
      const followed = await other.post('/v1/responses', { ...FOLLOWING, model: name, previous_response_id });
      const used = 'x-gateway-virtual-key-used';
      expect([followed.status, followed.headers[used]]).toEqual([200, made.headers[used]]);
    }
  });
});

describe('a stored response of a model route', () => {
  const stored: Reply = (reply, call) => {
    const isList = call.path.includes('/input_items');
    json(isList ? { object: 'list', data: [], has_more: false } : { ...response('kept'), deleted: true })(reply, call);
  };

  it('is read, listed, cancelled and deleted by its id alone, whatever the default virtual key is', async () => {
    const made = await respond();
    const { id } = jsonOf(made);
    gateway.provider.replyWith(stored);
    second.replyWith(stored);
    const { client } = await gateway.admin.createKey({ scopes: ['completions.write'], default_virtual_key: slugs[0] });
    for (const caller of [gateway.admin, client]) {
      const path = `/v1/responses/${String(id)}`;
      const answers = [await caller.get(path), await caller.get(`${path}/input_items`)];
      answers.push(await caller.post(`${path}/cancel`, {}), await caller.delete(path));
      const used = 'x-gateway-virtual-key-used';
      const seen = answers.map(({ status, headers }) => [status, headers[used]]);
      expect(seen).toEqual(answers.map(() => [200, made.headers[used]]));
    }
  });

  it('is not read by a key that may not use its virtual key, nor without one when it is not known', async () => {
    gateway.provider.replyWith(json(response('only-first')));
    second.replyWith(json({ error: { message: 'no' } }, 500));
    await respond();
    const { client } = await gateway.admin.createKey({
      scopes: ['completions.write'],
      allowed_virtual_keys: [slugs[1]],
    });
    gateway.provider.forget();
    expect(refusalOf(await client.get('/v1/responses/only-first'))).toMatchObject({ code: 'model_not_allowed' });
    const unknown = refusalOf(await gateway.admin.get('/v1/responses/never-seen'));
    expect(unknown).toMatchObject({ status: 400, code: 'virtual_key_required' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a response that is not known', () => {
  it('is continued by any target, also where another organisation or a removed target has its id', async () => {
    const pinned = gateway.app.dataSource.getRepository(ResponsePin);
    const [virtualKeyId = ''] = ids;
    const createdAt = new Date();
    const other = '00000000-0000-4000-8000-000000000000';
    await pinned.insert({ organisationId: other, responseId: 'foreign', virtualKeyId, createdAt });
    await pinned.insert({ organisationId, responseId: 'removed', virtualKeyId: other, createdAt });
    for (const previous of ['foreign', 'removed', 'never-seen', 'x'.repeat(2_000)]) {
      const [first = 0, last = 0] = await shares(previous);
      expect(first).toBeGreaterThan(0);
      expect(last).toBeGreaterThan(0);
    }
  });
});

describe('the retention of pins', () => {
  it('keeps those of 30 days', async () => {
    const [virtualKeyId = ''] = ids;
    const now = gateway.app.clock.now().getTime();
    const repository = gateway.app.dataSource.getRepository(ResponsePin);
    for (const days of [30, 32]) {
      const createdAt = new Date(now - days * DAY_MS);
      await repository.insert({ organisationId, responseId: `of ${days} days`, virtualKeyId, createdAt });
    }
    await gateway.app.app.get(ResponsePinRetention, { strict: false }).sweep();
    const left = (await pins()).map(({ responseId }) => responseId);
    expect(left).toContain('of 30 days');
    expect(left).not.toContain('of 32 days');
  });
});
