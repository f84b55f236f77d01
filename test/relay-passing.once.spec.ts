import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { readString } from '../src/common/json/read.js';
import { inTurn, json, onlyCall, text } from './support/fake-provider.js';
import { type Ask, plainly } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway, VALID } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const NOTHING = { object: 'list', data: [], has_more: false };
const KEY = 'Idempotency-Key';

let gateway: RerankGateway;
let openai: Ask;
let azure: Ask;
let cohere: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  openai = plainly(gateway, await gateway.virtualKey('openai', { path: '/v1' }));
  azure = plainly(gateway, await gateway.virtualKey('azure-openai'));
  cohere = await gateway.virtualKey('cohere');
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('the version of an Azure API', () => {
  it('sends the version that the caller names, before that of the virtual key', async () => {
    gateway.provider.replyWith(json(NOTHING));
    await azure('GET', '/files?api-version=2025-03-01-preview');
    await azure('GET', '/files');
    expect(gateway.provider.calls.map(({ path }) => path)).toEqual([
      '/openai/files?api-version=2025-03-01-preview',
      '/openai/files?api-version=2024-10-21',
    ]);
  });

  it('leaves the version out, and names it, where the provider has none', async () => {
    gateway.provider.replyWith(json(NOTHING));
    const answer = await openai('GET', '/files?api-version=2024-10-21');
    expect(answer.status).toBe(200);
    expect(answer.headers['x-gateway-warnings']).toBe('unsupported_parameter; param=api-version; provider=openai');
    expect(onlyCall(gateway.provider).path).toBe('/v1/files');
    const strictly = await openai('GET', '/files?api-version=x', { headers: { 'x-gateway-strict': 'true' } });
    expect(refusalOf(strictly)).toMatchObject({ code: 'unsupported_parameter', param: 'api-version' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('forwards a field of the body that has the name of the parameter', async () => {
    gateway.provider.replyWith(json({ id: 'batch_1' }));
    const body = '{"api-version":"x"}';
    const answer = await openai('POST', '/batches', { body });
    expect(answer.headers).not.toHaveProperty('x-gateway-warnings');
    expect(onlyCall(gateway.provider).body).toBe(body);
  });

  it.each(['', 'a b', 'x'.repeat(41), '../x'])('refuses the version %j', async (version) => {
    const answer = await azure('GET', `/files?api-version=${encodeURIComponent(version)}`);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'api-version' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('the header Idempotency-Key', () => {
  const body = { input_file_id: 'file-1' };
  const sentKey = () => onlyCall(gateway.provider).headers['idempotency-key'];

  it('sends the key with a change, and not with a read', async () => {
    gateway.provider.replyWith(json({ id: 'batch_1' }));
    await openai('POST', '/batches', { body, headers: { [KEY]: 'order-17' } });
    expect(sentKey()).toBe('order-17');
    gateway.provider.forget();
    await openai('GET', '/batches/batch_1', { headers: { [KEY]: 'order-17' } });
    expect(sentKey()).toBeUndefined();
  });

  it('sends other keys for other workspaces that share an account in isolation', async () => {
    const strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    const keys = new Set<unknown>();
    for (const workspace of ['idem-a', 'idem-b', 'idem-a']) {
      await openai('POST', '/workspaces', { body: { name: workspace, slug: workspace } });
      const scopes = SCOPES.filter((scope) => scope.startsWith('threads.'));
      const made = await openai('POST', '/api-keys', { body: { name: 'k', workspace_id: workspace, scopes } });
      const headers = { 'x-gateway-api-key': readString(jsonOf(made)['key'], 'key'), [KEY]: 'order-17' };
      gateway.provider.forget();
      gateway.provider.replyWith(json({ id: `thread_${keys.size}` }));
      expect((await plainly(gateway, strict)('POST', '/threads', { body: {}, headers })).status).toBe(200);
      expect(sentKey()).toMatch(/^[0-9a-f]{40}$/);
      keys.add(sentKey());
    }
    expect(keys.size).toBe(2);
  });

  it.each(['a b', 'x'.repeat(256), 'caf\u00e9'])('refuses the key %j', async (key) => {
    const answer = await openai('POST', '/batches', { body, headers: { [KEY]: key } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: KEY });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('a part of a file', () => {
  it('downloads the part that the caller asks for', async () => {
    gateway.provider.replyWith(
      text('0123', 'application/jsonl', 206, {
        'content-range': 'bytes 0-3/10',
        'accept-ranges': 'bytes',
        etag: '"1"',
      }),
    );
    const headers = { range: 'bytes=0-3', 'if-range': '"1"' };
    const answer = await openai('GET', '/files/file-1/content', { headers });
    expect([answer.status, answer.text]).toEqual([206, '0123']);
    expect(answer.headers).toMatchObject({ 'content-range': 'bytes 0-3/10', 'accept-ranges': 'bytes', etag: '"1"' });
    expect(onlyCall(gateway.provider).headers).toMatchObject(headers);
  });

  it('says how long the file is when the part is not in it', async () => {
    gateway.provider.replyWith(json({}, 416, { 'content-range': 'bytes */10' }));
    const answer = await openai('GET', '/files/file-1/content', { headers: { range: 'bytes=20-' } });
    expect(refusalOf(answer)).toMatchObject({ status: 416, code: 'provider_rejected' });
    expect(answer.headers['content-range']).toBe('bytes */10');
  });

  it.each([
    ['/files/file-1/content', 'lines=1-2'],
    ['/files/file-1/content', 'bytes=x'],
    ['/files/file-1', 'bytes=0-3'],
  ])('ignores the range for %s: %s', async (path, range) => {
    gateway.provider.replyWith(json({ id: 'file-1' }));
    expect((await openai('GET', path, { headers: { range } })).status).toBe(200);
    expect(onlyCall(gateway.provider).headers).not.toHaveProperty('range');
  });
});

describe('headers of an answer', () => {
  const sent = { 'x-ratelimit-remaining-requests': '59', 'openai-processing-ms': '12', 'set-cookie': 'a=b' };
  const { 'set-cookie': _cookie, ...passed } = sent;

  it.each([
    ['an object', json({ id: 'batch_1' }, 200, sent), '/batches/batch_1'],
    ['a list that is completed', json({ data: [] }, 200, sent), '/batches'],
    ['a file', text('x', 'text/plain', 200, sent), '/files/file-1/content'],
    ['a refusal', json({}, 404, sent), '/batches/batch_1'],
    ['a limit', json({}, 429, { ...sent, 'x-should-retry': 'false' }), '/batches/batch_1'],
    ['an answer that cannot be used', json({}, 200, sent), '/batches/batch_1'],
  ])("passes the provider's limits on with %s", async (_what, reply, path) => {
    gateway.provider.replyWith(reply);
    const answer = await openai('GET', path);
    expect(answer.headers).toMatchObject(passed);
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it.each([
    ['results', 200, json({ results: [{ index: 0, relevance_score: 0.5 }] }, 200, sent)],
    ['a refusal', 422, json({}, 422, sent)],
    ['a limit', 429, json({}, 429, { ...sent, 'x-should-retry': 'false' })],
    ['an answer that cannot be used', 502, json({}, 200, sent)],
  ])("passes the provider's limits on with %s of a rerank call", async (_what, status, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await gateway.rerank(cohere, { ...VALID, documents: ['Rome'] });
    expect(answer).toMatchObject({ status, headers: passed });
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it('passes the limits on with a list of an isolated workspace', async () => {
    const strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    gateway.provider.replyWith(json(NOTHING, 200, sent));
    expect((await plainly(gateway, strict)('GET', '/batches')).headers).toMatchObject(passed);
  });
});

it.each(['org%2Fjob', 'org%2fjob%2F1'])('sends the id %s as one segment', async (id) => {
  gateway.provider.replyWith(json({ id: 'x' }));
  expect((await openai('GET', `/fine_tuning/jobs/${id}`)).status).toBe(200);
  expect(onlyCall(gateway.provider).path).toBe(`/v1/fine_tuning/jobs/${id.replaceAll('%2f', '%2F')}`);
});

it.each([
  ['POST', '/images/generations', '/v1/batches, '],
  ['GET', '/batches/b/output/x', 'GET /v1/batches/{batch_id}'],
  ['GET', '/organization', '/v1/rerank'],
])('lists what is offered instead of %s %s', async (method, path, offered) => {
  const answer = await openai(method, path, { headers: { 'x-gateway-api-key': undefined } });
  expect(refusalOf(answer)).toEqual({ status: 404, code: 'operation_not_offered', param: null, source: 'gateway' });
  expect(answer.text).toContain(offered);
});

it("passes assistants, uploads, vector stores, permissions and graders on, at the provider's paths", async () => {
  gateway.provider.replyWith(json({ ...NOTHING, id: 'x_1' }));
  const calls = [
    ['POST', '/assistants'],
    ['GET', '/assistants?limit=5'],
    ['POST', '/uploads'],
    ['POST', '/uploads/upload_1/complete'],
    ['POST', '/vector_stores/vs_1/search'],
    ['GET', '/vector_stores/vs_1/files?filter=completed'],
    ['POST', '/vector_stores/vs_1/file_batches/vsfb_1/cancel'],
    ['GET', '/fine_tuning/checkpoints/ft:gpt:org::abc:ckpt-step-9/permissions?order=ascending'],
    ['DELETE', '/fine_tuning/checkpoints/ft:gpt:org::abc/permissions/cp_1'],
    ['POST', '/fine_tuning/alpha/graders/run'],
  ] as const;
  for (const [method, path] of calls) {
    const answer = await openai(method, path, method === 'POST' ? { body: { a: 1 } } : {});
    expect([path, answer.status]).toEqual([path, 200]);
  }
  const sent = gateway.provider.calls.map(({ method, path }) => `${method} ${decodeURIComponent(path).slice(3)}`);
  const bare = (line: string) => line.split('?')[0];
  expect(sent.map(bare)).toEqual(calls.map(([method, path]) => bare(`${method} ${path}`)));
});

describe('the output of a batch', () => {
  const BATCH = { id: 'batch_2', object: 'batch', status: 'completed' };
  const UNFINISHED = { ...BATCH, status: 'in_progress', output_file_id: null };
  const output = () => openai('GET', '/batches/batch_2/output', { headers: { range: 'bytes=0-3' } });

  it('is the content of its output file, or the part of it that the caller asks for', async () => {
    const content = text('0123', 'application/jsonl', 206, { 'content-range': 'bytes 0-3/10' });
    gateway.provider.replyWith(inTurn(json({ ...BATCH, output_file_id: 'file/1' }), content));
    const answer = await output();
    expect([answer.status, answer.text]).toEqual([206, '0123']);
    const sent = gateway.provider.calls.map(({ path, headers }) => [path, headers['range']]);
    expect(sent).toEqual([
      ['/v1/batches/batch_2', undefined],
      ['/v1/files/file%2F1/content', 'bytes=0-3'],
    ]);
  });

  it.each([
    [UNFINISHED, 'There is no output_file_id yet. The status is in_progress.'],
    [{ ...BATCH, status: '<b>' }, 'There is no output_file_id yet. The status is unknown.'],
  ])('is not found before there is a file: %j', async (batch, message) => {
    gateway.provider.replyWith(json(batch));
    const answer = await output();
    expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
    expect(answer.text).toContain(message);
    onlyCall(gateway.provider);
  });

  it("shows the provider's error when the batch or the file cannot be read", async () => {
    const missing = json({ error: { message: 'There is none', code: 'gone_away' } }, 404);
    for (const replies of [[missing], [json({ ...BATCH, output_file_id: 'file-1' }), missing]]) {
      gateway.provider.replyWith(inTurn(...replies));
      expect(refusalOf(await output())).toMatchObject({ status: 404, source: 'provider' });
    }
  });
});
