import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { type JsonObject, readObject } from '../src/common/json/read.js';
import { cursorPages, fineTuningJobs } from './support/fake-openai.js';
import { inTurn, json, onlyCall, text } from './support/fake-provider.js';
import { type Ask, openaiClient, plainly } from './support/openai-client.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const JOBS = '/fine_tuning/jobs';

let gateway: RerankGateway;
let client: OpenAI;
let ask: Ask;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const slug = await gateway.virtualKey('openai', { path: '/v1' });
  client = openaiClient(gateway, slug);
  ask = plainly(gateway, slug);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('fine-tuning through the official SDK', () => {
  it.each([
    ['list', 7],
    ['list', 100],
    ['listEvents', 20],
    ['checkpoints', 99],
  ] as const)('lists each of 250 items once and in order: %s, pages of %i', async (which, limit) => {
    const all = fineTuningJobs(250);
    gateway.provider.replyWith(cursorPages(all));
    const { jobs } = client.fineTuning;
    const seen: string[] = [];
    const list = {
      list: () => jobs.list({ limit }),
      listEvents: () => jobs.listEvents('ftjob-1', { limit }),
      checkpoints: () => jobs.checkpoints.list('ftjob-1', { limit }),
    }[which]();
    for await (const item of list) seen.push(item.id);
    expect(seen).toEqual(all.map((item) => item.id));
    expect(gateway.provider.calls).toHaveLength(Math.ceil(250 / limit));
  });

  it('lists only jobs with some metadata', async () => {
    gateway.provider.replyWith(cursorPages([]));
    const { jobs } = client.fineTuning;
    await jobs.list({ metadata: { team: 'a b', 'cost center': '7' } });
    await ask('GET', `${JOBS}?metadata=null`);
    expect(gateway.provider.calls.map(({ path }) => decodeURIComponent(path.replaceAll('+', ' ')))).toEqual([
      `/v1${JOBS}?limit=20&metadata[team]=a b&metadata[cost center]=7`,
      `/v1${JOBS}?limit=20&metadata=null`,
    ]);
  });

  it('reads a thousand events at a time', async () => {
    gateway.provider.replyWith(cursorPages([]));
    expect((await ask('GET', `${JOBS}/ftjob-1/events?limit=1000`)).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe(`/v1${JOBS}/ftjob-1/events?limit=1000`);
  });

  it("creates, retrieves, cancels, pauses and resumes a job at the provider's paths", async () => {
    gateway.provider.replyWith(json(fineTuningJobs(1)[0]));
    const { jobs } = client.fineTuning;
    const body = { model: 'gpt-4o-mini', training_file: 'file-abc123', seed: 42, metadata: { team: 'a' } };
    expect(await jobs.create(body)).toMatchObject({ id: 'ftjob-0001' });
    await jobs.retrieve('ftjob-0001');
    await jobs.cancel('ftjob-0001');
    await jobs.pause('ftjob-0001');
    await jobs.resume('ftjob-0001');
    expect(gateway.provider.calls.map(({ method, path, body: sent }) => `${method} ${path} ${sent}`.trim())).toEqual([
      `POST /v1${JOBS} ${JSON.stringify(body)}`,
      `GET /v1${JOBS}/ftjob-0001`,
      `POST /v1${JOBS}/ftjob-0001/cancel`,
      `POST /v1${JOBS}/ftjob-0001/pause`,
      `POST /v1${JOBS}/ftjob-0001/resume`,
    ]);
    for (const { headers } of gateway.provider.calls) expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  });

  it('retries a failed read of a job, but never a create or a change', async () => {
    const failingOnce = () => inTurn(json({}, 503), json({ id: 'ftjob-1' }));
    gateway.provider.replyWith(failingOnce());
    expect((await ask('GET', `${JOBS}/ftjob-1`)).status).toBe(200);
    for (const path of [JOBS, `${JOBS}/ftjob-1/cancel`]) {
      gateway.provider.forget();
      gateway.provider.replyWith(failingOnce());
      expect(refusalOf(await ask('POST', path, { body: {} }))).toMatchObject({ status: 502, code: 'provider_failed' });
      expect(gateway.provider.calls).toHaveLength(1);
    }
  });
});

describe('a fine-tuning job', () => {
  it('passes a job through byte for byte in both directions', async () => {
    const answered = '{"id" : "ftjob-1",\n"status":"paused","estimated_finish":1.70e9,"new":[null]}';
    gateway.provider.replyWith(text(answered, 'application/json'));
    expect((await ask('GET', `${JOBS}/ftjob-1`)).text).toBe(answered);
    gateway.provider.forget();
    const sent = '{ "model":"gpt-4o-mini", "training_file":"file-1", "seed":1.0e1, "new":{"a":[]} }';
    expect((await ask('POST', JOBS, { body: sent })).text).toBe(answered);
    expect(onlyCall(gateway.provider).body).toBe(sent);
  });

  it('completes the jobs of a compatible server, in lists too', async () => {
    const askCompatible = plainly(gateway, await gateway.virtualKey('openai-compatible'));
    const complete = { error: { code: null, message: null, param: null }, result_files: [], trained_tokens: null };
    gateway.provider.replyWith(json({ id: 'ftjob-1', status: 'running' }));
    expect(jsonOf(await askCompatible('GET', `${JOBS}/ftjob-1`))).toMatchObject({ status: 'running', ...complete });
    gateway.provider.replyWith(json({ data: [{ id: 'ftjob-1' }] }));
    expect(jsonOf(await askCompatible('GET', JOBS))).toMatchObject({ has_more: true, data: [complete] });
  });

  it.each([
    [`${JOBS}?limit=0`, 'limit'],
    [`${JOBS}?limit=101`, 'limit'],
    [`${JOBS}?after=`, 'after'],
    [`${JOBS}?order=asc`, 'order'],
    [`${JOBS}/ftjob-1?limit=1`, 'limit'],
    [`${JOBS}/ftjob-1/events?limit=1001`, 'limit'],
    [`${JOBS}/ftjob-1/checkpoints?before=a`, 'before'],
    [`${JOBS}/ft%2F..`, 'fine_tuning_job_id'],
    [`${JOBS}?metadata[]=a`, 'metadata'],
    [`${JOBS}?metadata=a`, 'metadata'],
    [`${JOBS}?metadata[a]=1&metadata[a]=2`, 'metadata'],
    [`${JOBS}?metadata[${'x'.repeat(65)}]=a`, 'metadata'],
    [`${JOBS}?metadata[a]=${'x'.repeat(513)}`, 'metadata'],
    [`${JOBS}?${Array.from({ length: 17 }, (_, index) => `metadata[${index}]=a`).join('&')}`, 'metadata'],
    [`${JOBS}?metadata=null&metadata[a]=b`, 'metadata[a]'],
    [`${JOBS}/ftjob-1/events?metadata[a]=b`, 'metadata[a]'],
  ])('refuses a request for a job with %s without calling the provider', async (path, param) => {
    const refusal = refusalOf(await ask('GET', path));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it("returns the provider's own refusal of a job", async () => {
    gateway.provider.replyWith(json({ error: { message: 'invalid file', param: 'training_file' } }, 400));
    const answer = await ask('POST', JOBS, { body: {} });
    expect(refusalOf(answer)).toEqual({
      status: 400,
      code: 'provider_rejected',
      param: 'training_file',
      source: 'provider',
    });
    expect(answer.headers).not.toHaveProperty('sunset');
  });

  it.each(['cohere', 'azure-ai'])('returns provider_not_supported for fine-tuning at %s', async (provider) => {
    const answer = await plainly(gateway, await gateway.virtualKey(provider))('GET', `${JOBS}/ftjob-1`);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported', source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('a fine-tuning job of Azure OpenAI', () => {
  const AZURE = new URL('../src/fine-tuning/providers/__fixtures__/azure-fine-tuning-job.json', import.meta.url);
  const job: JsonObject = readObject(JSON.parse(readFileSync(AZURE, 'utf8')), 'job');
  const mended = {
    error: { code: null, message: null, param: null },
    fine_tuned_model: null,
    hyperparameters: { n_epochs: 'auto' },
    organization_id: null,
    result_files: [],
    seed: null,
    trained_tokens: null,
    validation_file: null,
  };

  it.each([
    ['', {}, `/openai${JOBS}/ft-1?api-version=2024-10-21`],
    ['/', {}, `/openai${JOBS}/ft-1?api-version=2024-10-21`],
    ['', { api_version: '2025-04-01-preview' }, `/openai${JOBS}/ft-1?api-version=2025-04-01-preview`],
    ['/openai/v1', {}, `/openai/v1${JOBS}/ft-1`],
    ['/openai/v1', { api_version: 'preview' }, `/openai/v1${JOBS}/ft-1?api-version=preview`],
  ])('reads a job at base_url%s with %j and adds the missing fields', async (path, config, expected) => {
    gateway.provider.replyWith(json({ ...job, status: 'canceled' }));
    const answer = await plainly(gateway, await gateway.virtualKey('azure-openai', { path, config }))(
      'GET',
      `${JOBS}/ft-1`,
    );
    const tollgate = { provider_status: 'canceled' };
    expect(jsonOf(answer)).toEqual({ ...job, ...mended, status: 'cancelled', tollgate });
    const call = onlyCall(gateway.provider);
    expect(call.path).toBe(expected);
    expect(call.headers).toMatchObject({ 'api-key': PROVIDER_KEY });
    expect(call.headers).not.toHaveProperty('authorization');
  });

  it('adds the missing fields to listed jobs and keeps the list envelope', async () => {
    const statuses = ['notRunning', 'pending', 'created', 'running', 'canceled', 'succeeded'];
    gateway.provider.replyWith(
      json({ object: 'list', has_more: true, data: statuses.map((status) => ({ ...job, status })), extra: 1 }),
    );
    const answer = await plainly(gateway, await gateway.virtualKey('azure-openai'))('GET', `${JOBS}?limit=6`);
    const before = { finished_at: null };
    const expected = [
      { status: 'queued', ...before, tollgate: { provider_status: 'notRunning' } },
      { status: 'queued', ...before, tollgate: { provider_status: 'pending' } },
      { status: 'queued', ...before, tollgate: { provider_status: 'created' } },
      { status: 'running', ...before },
      { status: 'cancelled', tollgate: { provider_status: 'canceled' } },
      { status: 'succeeded' },
    ];
    expect(jsonOf(answer)).toEqual({
      object: 'list',
      has_more: true,
      data: expected.map((fields) => ({ ...job, ...mended, ...fields })),
      extra: 1,
    });
    expect(onlyCall(gateway.provider).path).toBe(`/openai${JOBS}?limit=6&api-version=2024-10-21`);
  });

  it.each(['events', 'checkpoints'])('passes %s through unchanged, since they are not jobs', async (what) => {
    const body =
      '{"object":"list", "data":[{"object":"fine_tuning.job.event","id":"e-1","level":"info"}],"has_more":false}';
    gateway.provider.replyWith(text(body, 'application/json'));
    const answer = await plainly(gateway, await gateway.virtualKey('azure-openai'))('GET', `${JOBS}/ft-1/${what}`);
    expect(answer.text).toBe(body);
  });

  it.each([
    ['no object', text('["a"]', 'application/json')],
    ['no JSON', text('<html>', 'text/html')],
  ])('returns 502 when the answer for a job is %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await plainly(gateway, await gateway.virtualKey('azure-openai'))('GET', `${JOBS}/ft-1`);
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response', source: 'provider' });
  });
});
