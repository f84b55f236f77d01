// Bodies of calls: kept where a workspace wants it, sealed, apart from the database, for a time.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isObject, type JsonObject, readString } from '../src/common/json/read.js';
import { LoggedBodies } from '../src/request-logs/logged-bodies.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { RequestLogRetention } from '../src/request-logs/request-log.retention.js';
import { type FakeS3, startFakeS3 } from './support/fake-s3.js';
import { json } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { startTestApp } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const DAY_MS = 86_400_000;
const QUESTION = 'A secret question';
const REPLY = 'A secret answer';
const CHAT = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: QUESTION }] };
const ANSWER = {
  id: 'c-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: REPLY }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
};
const EVENTS = [
  { choices: [{ index: 0, delta: { content: REPLY } }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
];
const STREAM = `${EVENTS.map((event) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...event })}\n\n`).join('')}data: [DONE]\n\n`;

let gateway: UsageGateway;
let s3: FakeS3;
let admin: GatewayClient;
/** A key of the workspace `default`. */
let client: GatewayClient;
let key: string;
let slug: string;

beforeAll(async () => {
  s3 = await startFakeS3();
  gateway = await startUsageGateway({ PROVIDER_RETRIES: '0', ...s3.settings });
  admin = new GatewayClient(gateway.app.url);
  slug = await gateway.virtualKey('openai-compatible');
  await useNewKey();
});
afterAll(async () => {
  await gateway.close();
  await s3.close();
});
afterEach(() => {
  s3.failWith = 0;
});

/** Changes what the workspace keeps, and calls with a key that no cache knows yet. */
async function keep(wanted: unknown): Promise<void> {
  expect((await admin.patch('/v1/workspaces/default', { log_bodies: wanted })).status).toBe(200);
  await useNewKey();
}

async function useNewKey(): Promise<void> {
  const scopes = ['completions.write', 'mcp.invoke', 'logs.list', 'logs.read', 'logs.bodies'];
  ({ client, key } = await admin.createKey({ scopes, level: 'workspace', workspace_id: 'default' }));
}

async function chat(body: unknown = CHAT, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const trace = randomUUID();
  const own = { 'x-gateway-api-key': key, 'x-gateway-virtual-key': slug, 'x-gateway-trace-id': trace };
  await send(`${gateway.app.url}/v1/chat/completions`, {
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...own, ...headers },
  });
  return trace;
}

/** The logged call of a trace, once it and its bodies are written. */
async function logged(trace: string): Promise<JsonObject> {
  const { app } = gateway.app;
  let found: readonly JsonObject[] = [];
  for (let tries = 0; tries < 100 && found.length === 0; tries += 1) {
    await app.get(RequestLogRecorder, { strict: false }).flush();
    found = await admin.list(`/v1/logs?trace_id=${trace}`);
  }
  await app.get(LoggedBodies, { strict: false }).flush();
  const [entry] = found;
  if (entry === undefined) throw new Error('the call was not logged');
  return entry;
}

async function bodiesOf(trace: string, reader = client): Promise<JsonObject> {
  return reader.read(`/v1/logs/${readString((await logged(trace))['id'], 'id')}/bodies`);
}

function contentOf(body: unknown): unknown {
  return isObject(body) ? body['content'] : undefined;
}

describe('bodies of calls', () => {
  it('are not kept until a workspace wants it', async () => {
    gateway.provider.replyWith(json(ANSWER));
    const entry = await logged(await chat());
    expect(entry).toMatchObject({ bodies_until: null, workspace_id: expect.any(String) });
    const refused = await client.get(`/v1/logs/${readString(entry['id'], 'id')}/bodies`);
    expect(refusalOf(refused)).toMatchObject({ status: 404, code: 'not_found' });
    expect(s3.objects.size).toBe(0);
  });

  it('are what the client sent and got', async () => {
    await keep({});
    gateway.provider.replyWith(json(ANSWER));
    const trace = await chat();
    const entry = await logged(trace);
    const week = Math.floor((gateway.app.clock.now().getTime() + 7 * DAY_MS) / 1000);
    expect(Math.abs(Number(entry['bodies_until']) - week)).toBeLessThan(60);
    const sent = JSON.stringify(CHAT);
    const got = JSON.stringify(ANSWER);
    const whole = { truncated: false, encoding: 'utf-8' };
    expect(await bodiesOf(trace)).toEqual({
      id: entry['id'],
      object: 'log.bodies',
      request: { content_type: 'application/json', bytes: sent.length, ...whole, content: sent },
      response: { content_type: 'application/json', bytes: got.length, ...whole, content: got },
    });
  });

  it('are those of streams, compressed requests, failures and MCP calls', async () => {
    await keep({});
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(STREAM);
    });
    const stream = await bodiesOf(await chat({ ...CHAT, stream: true, stream_options: { include_usage: true } }));
    expect(stream['response']).toMatchObject({ content_type: 'text/event-stream', content: STREAM });

    gateway.provider.replyWith(json(ANSWER));
    const zipped = await bodiesOf(await chat(gzipSync(JSON.stringify(CHAT)), { 'content-encoding': 'gzip' }));
    expect(contentOf(zipped['request'])).toBe(JSON.stringify(CHAT));

    const named = { ...CHAT, model: `@${slug}/m` };
    expect(contentOf((await bodiesOf(await chat(named)))['request'])).toBe(JSON.stringify(named));

    gateway.provider.replyWith(json({ error: { message: 'no such thing' } }, 400));
    const failed = await bodiesOf(await chat());
    expect(contentOf(failed['response'])).toContain('no such thing');

    await admin.create('/v1/mcp-servers', { name: 'M', slug: 'm-server', url: 'http://127.0.0.1:1/mcp' });
    const trace = randomUUID();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const accept = 'application/json, text/event-stream';
    await client.post('/m-server/mcp', call, { accept, 'x-gateway-trace-id': trace });
    const mcp = await bodiesOf(trace);
    expect(contentOf(mcp['request'])).toBe(JSON.stringify(call));
    expect(contentOf(mcp['response'])).toContain('"jsonrpc":"2.0"');
  });

  it('are cut at max_bytes, and sampled', async () => {
    await keep({ max_bytes: 1_024 });
    const long = { ...ANSWER, padding: 'x'.repeat(5_000) };
    gateway.provider.replyWith(json(long));
    const { response } = await bodiesOf(await chat());
    const text = JSON.stringify(long);
    expect(response).toMatchObject({ bytes: text.length, truncated: true, content: text.slice(0, 1_024) });

    const random = jest.spyOn(Math, 'random').mockReturnValue(0.3);
    await keep({ sample_rate: 0.3 });
    expect(await logged(await chat())).toMatchObject({ bodies_until: null });
    await keep({ sample_rate: 0.31 });
    expect(await logged(await chat())).toMatchObject({ bodies_until: expect.any(Number) });
    random.mockRestore();
  });

  it('are sealed for their call, and nowhere in the database or the log', async () => {
    await keep({});
    gateway.provider.replyWith(json(ANSWER));
    const [one, other] = [await chat(), await chat()];
    const [first, second] = [await logged(one), await logged(other)];
    for (const sealed of s3.objects.values()) expect(sealed).toMatch(/^v1\.[\w.-]+$/);
    const { dataSource, log } = gateway.app;
    const tables: readonly { readonly name: string }[] = await dataSource.query(
      `SELECT table_name AS "name" FROM information_schema.tables WHERE table_schema = current_schema()`,
    );
    for (const { name } of tables) {
      const found: readonly unknown[] = await dataSource.query(
        `SELECT 1 FROM "${name}" AS row WHERE row::text LIKE '%secret question%' OR row::text LIKE '%secret answer%'`,
      );
      expect([name, found]).toEqual([name, []]);
    }
    expect(log()).not.toMatch(/secret question|secret answer/);

    const keyOf = ({ id }: JsonObject): string =>
      [...s3.objects.keys()].find((name) => name.endsWith(String(id))) ?? '';
    s3.objects.set(keyOf(first), s3.objects.get(keyOf(second)) ?? '');
    const moved = await client.get(`/v1/logs/${String(first['id'])}/bodies`);
    expect(refusalOf(moved)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('are for callers of the tenant with the scope logs.bodies, and the audit log says who read them', async () => {
    await keep({});
    gateway.provider.replyWith(json(ANSWER));
    const id = String((await logged(await chat()))['id']);
    const path = `/v1/logs/${id}/bodies`;
    const reader = await admin.createKey({ scopes: ['logs.list', 'logs.read'] });
    expect(refusalOf(await reader.client.get(path))).toMatchObject({ status: 403, code: 'permission_denied' });
    await admin.create('/v1/workspaces', { name: 'Other', slug: 'other-place' });
    const elsewhere = await admin.createKey({
      scopes: ['logs.bodies'],
      level: 'workspace',
      workspace_id: 'other-place',
    });
    const stranger = await addTenant(gateway.app, 'stranger');
    for (const outsider of [elsewhere.client, stranger.client]) {
      expect(refusalOf(await outsider.get(path))).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toEqual([]);
    await client.read(path);
    expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toMatchObject([
      { action: 'logs.read_bodies', resource_type: 'log', resource_name: '/v1/chat/completions' },
    ]);
  });

  it('wait while their store is away, and calls do not', async () => {
    await keep({});
    s3.failWith = 503;
    gateway.provider.replyWith(json(ANSWER));
    const trace = await chat();
    const path = `/v1/logs/${String((await logged(trace))['id'])}/bodies`;
    expect(refusalOf(await client.get(path))).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(gateway.app.log()).toContain('request_bodies_not_written');
    s3.failWith = 0;
    expect(contentOf((await bodiesOf(trace))['response'])).toBe(JSON.stringify(ANSWER));
  });

  it('are deleted after their days, and refused from their last second on', async () => {
    await keep({ retention_days: 2 });
    gateway.provider.replyWith(json(ANSWER));
    const trace = await chat();
    await bodiesOf(trace);
    const retention = gateway.app.app.get(RequestLogRetention, { strict: false });
    await retention.sweep();
    await bodiesOf(trace);
    gateway.app.clock.advance(2 * DAY_MS);
    expect(refusalOf(await client.get(`/v1/logs/${String((await logged(trace))['id'])}/bodies`))).toMatchObject({
      status: 404,
    });
    gateway.app.clock.advance(8 * DAY_MS);
    await retention.sweep();
    expect([...s3.objects.keys()]).toEqual([]);
    expect(await logged(trace)).toMatchObject({ status: 200 });
  });

  it.each<[string, unknown]>([
    ['log_bodies.sample_rate', { sample_rate: 0 }],
    ['log_bodies.sample_rate', { sample_rate: 1.01 }],
    ['log_bodies.max_bytes', { max_bytes: 1_048_577 }],
    ['log_bodies.retention_days', { retention_days: 31 }],
    ['log_bodies.days', { days: 3 }],
    ['log_bodies', true],
  ])('are not kept by a wrong %s', async (param, wanted) => {
    const refused = await admin.patch('/v1/workspaces/default', { log_bodies: wanted });
    expect(refusalOf(refused)).toMatchObject({ status: 400, code: 'validation_failed', param });
  });

  it('are kept no more where the operator has no store', async () => {
    await keep({});
    const app = await startTestApp({}, true);
    try {
      const other = new GatewayClient(app.url);
      const refused = await other.patch('/v1/workspaces/default', { log_bodies: { retention_days: 1 } });
      expect(refusalOf(refused)).toMatchObject({ status: 400, param: 'log_bodies' });
      const stored = await other.read('/v1/workspaces/default');
      expect((await other.put('/v1/workspaces/default', stored)).status).toBe(200);
      const before = s3.objects.size;
      gateway.provider.replyWith(json(ANSWER));
      await other.post('/v1/chat/completions', CHAT, { 'x-gateway-virtual-key': slug });
      await app.app.get(RequestLogRecorder, { strict: false }).flush();
      const [entry] = await other.list('/v1/logs');
      expect(entry).toMatchObject({ bodies_until: null });
      expect(s3.objects.size).toBe(before);
      expect((await other.patch('/v1/workspaces/default', { log_bodies: null })).status).toBe(200);
    } finally {
      await app.close();
    }
  });
});
