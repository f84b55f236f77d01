import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { withBatchFields } from '../src/batches/providers/required-fields.js';
import { batches, cursorPages } from './support/fake-openai.js';
import { plainly } from './support/openai-client.js';
import { jsonOf, refusalOf } from './support/send.js';
import { hangUp, inTurn, json, onlyCall, silence, text } from './support/fake-provider.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { ADMIN_KEY } from './support/test-app.js';

const NEW_BATCH = { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' };

describe('batches through the official SDK', () => {
  let gateway: RerankGateway;
  let slug: string;

  beforeAll(async () => {
    gateway = await startRerankGateway();
    slug = await gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: 3_000 } });
  });
  afterAll(() => gateway.close());
  beforeEach(() => gateway.provider.forget());

  const client = (virtualKey = slug): OpenAI =>
    new OpenAI({
      baseURL: `${gateway.app.url}/v1`,
      apiKey: 'unused',
      maxRetries: 0,
      defaultHeaders: { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': virtualKey },
    });

  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${gateway.app.url}/v1${path}`, {
      headers: { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': slug, ...headers },
    });

  it.each([1, 7, 20, 99, 100])('lists each of 250 batches once and in order with pages of %i', async (limit) => {
    const all = batches(250);
    gateway.provider.replyWith(cursorPages(all));
    const seen: string[] = [];
    for await (const batch of client().batches.list({ limit })) seen.push(batch.id);
    expect(seen).toEqual(all.map((batch) => batch.id));
    expect(gateway.provider.calls).toHaveLength(Math.ceil(250 / limit));
  });

  it.each([
    ['as large as the limit', 20, 9],
    ['smaller than the limit', 12, 14],
  ])('lists each of 145 batches once at a server without has_more, with pages %s', async (_what, largest, calls) => {
    const all = batches(145);
    gateway.provider.replyWith((response, call) => {
      const query = new URL(call.path, 'http://provider').searchParams;
      const start = all.findIndex(({ id }) => id === query.get('after')) + 1;
      const size = Math.min(Number(query.get('limit')), largest);
      json({ data: all.slice(start, start + size) })(response, call);
    });
    const seen: string[] = [];
    for await (const batch of client().batches.list()) seen.push(batch.id);
    expect(seen).toEqual(all.map((batch) => batch.id));
    // With the empty page that ends the list.
    expect(gateway.provider.calls).toHaveLength(calls);
  });

  it('lists each batch once at a server that knows neither limit nor cursor', async () => {
    const all = batches(45);
    gateway.provider.replyWith(json({ data: all }));
    const seen: string[] = [];
    for await (const batch of client().batches.list()) seen.push(batch.id);
    expect(seen).toEqual(all.map((batch) => batch.id));
  });

  it("passes the provider's bytes through, including unknown fields, order and spacing", async () => {
    const batch = JSON.stringify(withBatchFields({ id: 'batch_1' })).replace('}', ',\n "zzz":1.50}');
    const body = `{ "object":"list",\n "has_more":false, "data":[${batch}] }`;
    gateway.provider.replyWith(text(body, 'application/json'));
    const answer = await get('/batches');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.text()).toBe(body);
    const call = onlyCall(gateway.provider);
    expect(call).toMatchObject({ method: 'GET', path: '/v1/batches?limit=20' });
    expect(call.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(JSON.stringify(call.headers)).not.toContain(ADMIN_KEY);
  });

  it.each(['/batches', '/batches/batch_1'])(
    'returns 502 when the provider answers %s with an invalid body',
    async (path) => {
      gateway.provider.replyWith(json({ foo: 1 }));
      const answer = await get(path);
      expect(answer.status).toBe(502);
      expect(await answer.json()).toMatchObject({ error: { code: 'provider_invalid_response', source: 'provider' } });
    },
  );

  it('creates, retrieves and cancels a batch', async () => {
    const [batch] = batches(1);
    gateway.provider.replyWith(json(batch));
    const body = { input_file_id: 'file-abc123', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    expect(await client().batches.create(body)).toMatchObject({ id: 'batch_0001' });
    expect(onlyCall(gateway.provider)).toMatchObject({
      method: 'POST',
      path: '/v1/batches',
      body: JSON.stringify(body),
    });
    gateway.provider.forget();
    await client().batches.retrieve('batch_0001');
    await client().batches.cancel('batch_0001');
    expect(gateway.provider.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/batches/batch_0001',
      'POST /v1/batches/batch_0001/cancel',
    ]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['after=', 'after'],
    ['order=asc', 'order'],
    ['before=batch_1', 'before'],
  ])('refuses ?%s without calling the provider', async (query, param) => {
    const answer = await get(`/batches?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'validation_failed', param, source: 'gateway' } });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it.each(['..%2f..%2fmodels', '%2e%2e', 'a%00b', 'a%3Fb', 'a%23b', 'a%2F%2Fb', 'a%20b', '%0d%0a'])(
    'refuses the batch id %s without calling the provider',
    async (id) => {
      const answer = await get(`/batches/${id}`);
      expect([400, 404]).toContain(answer.status);
      expect(await answer.json()).toMatchObject({ error: { source: 'gateway' } });
      expect(gateway.provider.calls).toHaveLength(0);
    },
  );

  it.each([
    [json({ error: { message: 'Incorrect API key provided: sk-123' } }, 401), 502, 'provider_credential_rejected'],
    [json({ error: { message: 'No batch found', param: 'batch_id' } }, 404), 404, 'provider_rejected'],
    [json({ error: { message: 'slow down' } }, 429, { 'retry-after': '17' }), 429, 'provider_rate_limited'],
    [text('<html>bad gateway</html>', 'text/html', 502), 502, 'provider_failed'],
    [json({ error: { message: 'No such batch', code: 404 } }), 404, 'provider_rejected'],
    [json({ error: 'busy' }), 502, 'provider_failed'],
    [text('<html>hello</html>', 'text/html', 200), 502, 'provider_invalid_response'],
    [hangUp, 502, 'provider_failed'],
    [silence, 504, 'provider_timeout'],
  ])('returns the documented error when the provider fails (%#)', async (reply, status, code) => {
    gateway.provider.replyWith(reply);
    const answer = await get('/batches/batch_1');
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code, source: 'provider' } });
    expect(answer.headers.get('retry-after')).toBe(code === 'provider_rate_limited' ? '17' : null);
  });

  it.each<readonly ['GET' | 'POST', string]>([
    ['GET', '/batches/batch_1'],
    ['GET', '/batches'],
    ['POST', '/batches'],
    ['POST', '/batches/batch_1/cancel'],
  ])('returns the error that a code names with status 200: %s %s', async (method, path) => {
    const failures = [
      { base_resp: { status_code: 1004, status_msg: 'login fail' }, data: [] },
      { code: 1004, msg: 'login fail', data: [] },
    ];
    for (const failure of failures) {
      gateway.provider.replyWith(json(failure));
      const answer = await plainly(gateway, slug)(method, path, method === 'POST' ? { body: NEW_BATCH } : {});
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_failed' });
      expect(jsonOf(answer)['error']).toMatchObject({ message: 'login fail', provider_code: '1004' });
    }
  });

  it.each([{ base_resp: { status_code: 0, status_msg: 'success' } }, { code: 'empty_file', message: 'It is empty.' }])(
    'returns a new batch that comes with %j',
    async (more) => {
      gateway.provider.replyWith(json({ ...batches(1)[0], ...more }));
      const answer = await plainly(gateway, slug)('POST', '/batches', { body: NEW_BATCH });
      expect(answer.status).toBe(200);
      expect(jsonOf(answer)).toMatchObject(more);
    },
  );

  it('retries a failed read of a batch, but never a create', async () => {
    gateway.provider.replyWith(inTurn(json({}, 500), json(batches(1)[0])));
    expect((await get('/batches/batch_1')).status).toBe(200);
    expect(gateway.provider.calls).toHaveLength(2);
    gateway.provider.forget();
    gateway.provider.replyWith(inTurn(json({}, 500), json(batches(1)[0])));
    const body = { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' } as const;
    await expect(client().batches.create(body)).rejects.toMatchObject({ status: 502 });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('returns provider_not_supported when the provider has no batches', async () => {
    const cohere = await gateway.virtualKey('cohere');
    const answer = await get('/batches', { 'x-gateway-virtual-key': cohere });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'provider_not_supported' } });
  });
});
