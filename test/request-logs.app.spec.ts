// The log of calls: one row for each call of any kind, within its tenant.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { RequestLogRetention } from '../src/request-logs/request-log.retention.js';
import { eventually } from './support/eventually.js';
import { json, type Reply, text } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp } from './support/test-app.js';
import { scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const DAY_MS = 86_400_000;
const CHAT = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'A secret question' }] };
const ANSWER = {
  id: 'c-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A secret answer' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
};

const CHUNK =
  '{"id":"c-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}';
const END =
  '{"id":"c-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}';

let gateway: UsageGateway;
let admin: GatewayClient;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_RETRIES: '0' });
  admin = new GatewayClient(gateway.app.url);
  slug = await gateway.virtualKey('openai-compatible');
});
afterAll(() => gateway.close());

const BROKEN = { status: 200, outcome: 'provider_error' };

function sse(...data: readonly string[]): Reply {
  return text(data.map((each) => `data: ${each}\n\n`).join(''), 'text/event-stream');
}

async function logs(query = '', client = admin): Promise<readonly JsonObject[]> {
  await gateway.app.app.get(RequestLogRecorder, { strict: false }).flush();
  return client.list(`/v1/logs${query}`);
}

function chat(client: GatewayClient, headers: Readonly<Record<string, string>> = {}) {
  gateway.provider.replyWith(json(ANSWER));
  return client.post('/v1/chat/completions', CHAT, { 'x-gateway-virtual-key': slug, ...headers });
}

describe('the log of calls', () => {
  it('has who called what, how it ended and what it cost, without a body or a header', async () => {
    const { id: keyId, client } = await admin.createKey({
      scopes: ['completions.write'],
      type: 'user',
      user: { user_id: 'alice' },
    });
    const trace = randomUUID();
    const metadata = JSON.stringify({ team: 'search', session: 's-1' });
    const answer = await chat(client, { 'x-gateway-trace-id': trace, 'x-gateway-metadata': metadata });
    expect(answer.status).toBe(200);
    const [entry, ...others] = await logs(`?trace_id=${trace}`);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      object: 'log',
      actor_type: 'api_key',
      actor_id: keyId,
      user_id: 'alice',
      session: 's-1',
      method: 'POST',
      route: '/v1/chat/completions',
      virtual_key: slug,
      provider: 'openai-compatible',
      model: 'm',
      mcp_server: null,
      status: 200,
      error_code: null,
      tokens: 14,
      duration_ms: expect.any(Number),
      upstream_ms: expect.any(Number),
      upstream_attempts: 1,
      trace_id: trace,
      metadata: { team: 'search', session: 's-1' },
    });
    const id = readString(entry?.['id'], 'id');
    expect(await admin.read(`/v1/logs/${id}`)).toEqual(entry);
    expect(JSON.stringify(entry)).not.toMatch(/secret|tg_|Bearer/);
  });

  it('has the model route that a call named, beside the model of its target', async () => {
    const targets = [{ virtual_key: slug, model: 'm' }];
    await admin.create('/v1/model-routes', { name: 'smart', targets });
    gateway.provider.replyWith(json(ANSWER));
    expect((await admin.post('/v1/chat/completions', { ...CHAT, model: 'smart' })).status).toBe(200);
    const found = await logs('?model_requested=smart');
    expect(found).toMatchObject([{ model_requested: 'smart', model: 'm', virtual_key: slug }]);
    expect(await logs('?model_requested=other')).toEqual([]);
  });

  it('has calls that failed, were refused, and of other kinds', async () => {
    const trace = randomUUID();
    const headers = { 'x-gateway-trace-id': trace };
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    await admin.post('/v1/chat/completions', CHAT, { ...headers, 'x-gateway-virtual-key': slug });
    gateway.provider.replyWith(scored());
    const rerank = { model: 'rerank-v3.5', query: 'q', documents: ['a', 'b'] };
    await admin.post('/v1/rerank', rerank, { ...headers, 'x-gateway-virtual-key': gateway.cohere });
    gateway.provider.replyWith(json({ object: 'list', data: [] }));
    await admin.get('/v1/batches', { ...headers, 'x-gateway-virtual-key': slug });
    await admin.create('/v1/mcp-servers', { name: 'M', slug: 'm-server', url: 'http://127.0.0.1:1/mcp' });
    await admin.post(
      '/m-server/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      {
        ...headers,
        accept: 'application/json, text/event-stream',
      },
    );
    const found = await logs(`?trace_id=${trace}&sort=created_at`);
    expect(found.map(({ route, status, mcp_server: server }) => [route, status, server])).toEqual([
      ['/v1/chat/completions', 500, null],
      ['/v1/rerank', 200, null],
      ['/v1/batches', 200, null],
      [expect.stringContaining('/mcp'), 502, 'm-server'],
    ]);
    expect(await logs(`?trace_id=${trace}&status_class=2`)).toHaveLength(2);
    expect(await logs(`?trace_id=${trace}&status=502&mcp_server=m-server`)).toHaveLength(1);
    expect(await logs(`?trace_id=${trace}&provider=cohere`)).toHaveLength(1);
    expect(await logs(`?trace_id=${trace}&min_duration_ms=600000`)).toEqual([]);
    // What administers the gateway is in the audit log.
    expect(await logs('?route=/v1/mcp-servers')).toEqual([]);
  });

  it.each<readonly [string, boolean, Reply, object]>([
    ['an answer', false, json(ANSWER), { status: 200, outcome: 'ok', error_code: null }],
    ['an error', false, json({ error: { message: 'no' } }, 500), { status: 500, outcome: 'provider_error' }],
    [
      'an error that passes',
      false,
      json({ error: { message: 'no' } }, 400),
      { status: 400, outcome: 'provider_error' },
    ],
    [
      'an error with the status 200',
      false,
      json({ error: { message: 'no', code: 504 } }),
      { status: 200, outcome: 'provider_error' },
    ],
    ['a stream', true, sse(CHUNK, END, '[DONE]'), { status: 200, outcome: 'ok' }],
    ['a stream that breaks off', true, sse(CHUNK), { ...BROKEN, first_token_ms: expect.any(Number) }],
    [
      'a stream with an error',
      true,
      sse(CHUNK, '{"error":{"message":"no"}}', '[DONE]'),
      { status: 200, outcome: 'provider_error' },
    ],
  ])('says how a call ended: %s', async (_what, stream, reply, expected) => {
    const trace = randomUUID();
    gateway.provider.replyWith(reply);
    const headers = { 'x-gateway-virtual-key': slug, 'x-gateway-trace-id': trace };
    await admin.post('/v1/chat/completions', { ...CHAT, stream }, headers).catch(() => undefined);
    await eventually(async () => (await logs(`?trace_id=${trace}`)).length === 1);
    const [entry] = await logs(`?trace_id=${trace}`);
    expect(entry).toMatchObject(expected);
    const hasFailed = entry?.['outcome'] !== 'ok';
    expect(await logs(`?trace_id=${trace}&outcome=failed`)).toHaveLength(hasFailed ? 1 : 0);
    expect(await logs(`?trace_id=${trace}&outcome=ok`)).toHaveLength(hasFailed ? 0 : 1);
  });

  it('says that the gateway refused a call', async () => {
    const trace = randomUUID();
    const headers = { 'x-gateway-virtual-key': slug, 'x-gateway-trace-id': trace };
    expect((await admin.post('/v1/chat/completions', { model: 7 }, headers)).status).toBe(400);
    expect(await logs(`?trace_id=${trace}&outcome=gateway_error`)).toMatchObject([{ status: 400 }]);
  });

  it('shows no tenant the calls of another, and a workspace key only those of its workspace', async () => {
    const trace = randomUUID();
    await admin.create('/v1/workspaces', { name: 'Other', slug: 'other-place' });
    const scopes = ['completions.write', 'logs.list', 'logs.read'];
    const inDefault = await admin.createKey({ scopes, level: 'workspace', workspace_id: 'default' });
    const elsewhere = await admin.createKey({ scopes, level: 'workspace', workspace_id: 'other-place' });
    await chat(inDefault.client, { 'x-gateway-trace-id': trace });
    const [entry] = await logs(`?trace_id=${trace}`);
    const stranger = await addTenant(gateway.app, 'stranger');
    expect(await logs(`?trace_id=${trace}`, inDefault.client)).toEqual([entry]);
    expect(await logs(`?trace_id=${trace}&workspace_id=other-place`)).toEqual([]);
    for (const client of [elsewhere.client, stranger.client]) {
      expect(await logs('', client)).toEqual([]);
      const refused = await client.get(`/v1/logs/${readString(entry?.['id'], 'id')}`);
      expect(refusalOf(refused)).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect(refusalOf(await admin.get('/v1/logs/junk'))).toMatchObject({ status: 404 });
  });

  it.each(['status=99', 'status_class=6', 'outcome=bad', 'min_duration_ms=-1', 'sort=cost', 'from=5&to=4'])(
    'refuses the query %s',
    async (query) => {
      expect(refusalOf(await admin.get(`/v1/logs?${query}`))).toMatchObject({ status: 400, code: 'validation_failed' });
    },
  );

  it('forgets calls after REQUEST_LOG_DAYS', async () => {
    expect((await logs()).length).toBeGreaterThan(0);
    const retention = gateway.app.app.get(RequestLogRetention, { strict: false });
    gateway.app.clock.advance(29 * DAY_MS);
    await retention.sweep();
    expect((await logs()).length).toBeGreaterThan(0);
    gateway.app.clock.advance(2 * DAY_MS);
    await retention.sweep();
    expect(await logs()).toEqual([]);
  });

  it('is empty with REQUEST_LOG_DAYS=0', async () => {
    const app = await startTestApp({ REQUEST_LOG_DAYS: '0' }, true);
    try {
      const client = new GatewayClient(app.url).as(ADMIN_KEY);
      gateway.provider.replyWith(json(ANSWER));
      expect((await client.post('/v1/chat/completions', CHAT, { 'x-gateway-virtual-key': slug })).status).toBe(200);
      await app.app.get(RequestLogRecorder, { strict: false }).flush();
      expect(await client.list('/v1/logs')).toEqual([]);
    } finally {
      await app.close();
    }
  });
});
