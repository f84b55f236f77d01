// Fine-tuning jobs are reserved from their training file, and settled by what they were trained on.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { eventually } from './support/eventually.js';
import { json, type Reply, text } from './support/fake-provider.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const EXAMPLE = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
const EPOCHS = 3;
const TOKENS = 10 * (EXAMPLE.length + 64) * EPOCHS;
const NANO_PER_TOKEN = 25_000;
const JOB = { model: 'm', training_file: 'file-1', hyperparameters: { n_epochs: EPOCHS } };
const PATH = '/v1/fine_tuning/jobs';

let gateway: UsageGateway;
let openai: string;
let state: object;

const reply: Reply = (response, call) => {
  if (call.path.includes('/files/file-1/')) return text(`${EXAMPLE}\n`.repeat(10), 'application/jsonl')(response, call);
  if (call.path.includes('/files/')) return json({ error: { message: 'not found' } }, 404)(response, call);
  return json({ id: 'ftjob-1', object: 'fine_tuning.job', model: 'm-2026-01-01', ...state })(response, call);
};

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_JOB_CHECK_MS: '100', USAGE_LEASE_MARGIN_MS: '1000' });
  openai = await gateway.virtualKey('openai-compatible', { path: '/v1' });
  const price = { provider: 'openai-compatible', model: 'm', unit: 'training', price: '0.000025' };
  await gateway.admin.create('/v1/prices', price);
});
beforeEach(async () => {
  await gateway.app.dataSource.query('DELETE FROM provider_jobs');
  await gateway.app.dataSource.query('DELETE FROM usage_reservations');
  await gateway.reset();
  state = { status: 'queued', trained_tokens: null };
  gateway.provider.replyWith(reply);
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const create = (body: object = JOB): Promise<Answer> =>
  gateway.admin.post(PATH, body, { 'x-gateway-virtual-key': openai });
const limit = (tokens: number, more: object = {}): Promise<string> =>
  gateway.limit({
    conditions: [{ key: 'endpoint', value: 'fine_tuning' }],
    credit_limit: (tokens * NANO_PER_TOKEN) / 1e9,
    ...more,
  });
const settled = (): Promise<void> =>
  eventually(async () => {
    const jobs = await gateway.app.dataSource.getRepository(ProviderJob).find();
    return jobs.length > 0 && jobs.every(({ settledAt }) => settledAt !== null);
  });
const sent = (): number => gateway.provider.calls.filter(({ method }) => method === 'POST').length;

describe('a fine-tuning job under a usage limit', () => {
  it('that does not fit is refused before it is sent', async () => {
    await limit(TOKENS - 1);
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(sent()).toBe(0);
  });

  it.each([
    ['admitted', TOKENS, 200],
    ['exceeded', TOKENS - 1, 412],
  ])('is %s, as a simulation says', async (decision, tokens, status) => {
    await limit(tokens);
    const estimate = { cost: (TOKENS * NANO_PER_TOKEN) / 1e9 };
    const body = { virtual_key: openai, endpoint: 'fine_tuning', model: 'm', estimate };
    const simulated = await gateway.admin.post('/v1/policies/usage-limits/simulate', body);
    expect(jsonOf(simulated)).toMatchObject({ decision });
    expect((await create()).status).toBe(status);
    state = { status: 'failed', trained_tokens: null };
    if (status === 200) await settled();
  });

  it('that fits is charged once by the tokens that it was trained on', async () => {
    await limit(TOKENS);
    const answer = await create();
    expect([answer.status, answer.headers['x-gateway-limit-remaining']]).toEqual([200, '0']);
    state = { status: 'succeeded', trained_tokens: 500 };
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      {
        endpoint: 'fine_tuning',
        model: 'm',
        costNano: String(500 * NANO_PER_TOKEN),
        tokens: '500',
        quantities: { training: 500 },
        source: 'provider',
      },
    ]);
  });

  it.each([0, -5, 1e300, '500', null])(
    'that has succeeded with %j trained tokens is charged its bound',
    async (trained) => {
      await limit(TOKENS);
      await create();
      state = { status: 'succeeded', trained_tokens: trained };
      await settled();
      expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: String(TOKENS * NANO_PER_TOKEN) }]);
    },
  );

  it('that fails costs nothing', async () => {
    await limit(TOKENS);
    await create();
    state = { status: 'failed', trained_tokens: null };
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', source: 'computed' }]);
  });

  it('that does not say what it was trained on is charged its bound', async () => {
    await limit(TOKENS);
    await create();
    state = { status: 'succeeded', trained_tokens: null };
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ tokens: String(TOKENS), source: 'computed' }]);
  });

  it.each([
    ['n_epochs', { ...JOB, hyperparameters: undefined }],
    ['n_epochs', { ...JOB, hyperparameters: { n_epochs: 'auto' } }],
    ['n_epochs', { ...JOB, method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: -1 } } } }],
    ['method', { ...JOB, method: { type: 'reinforcement' } }],
    ['training_file', { ...JOB, training_file: 'file-2' }],
    ['training_file', { ...JOB, training_file: undefined }],
    ['model', { ...JOB, model: undefined }],
  ])('is refused where %s leaves open what it may use: %j', async (param, body) => {
    await limit(TOKENS);
    expect(refusalOf(await create(body))).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
    expect(sent()).toBe(0);
  });

  it.each([
    ['an address', String.raw`{"image\u005furl":{"url":"https://example.com/1.png"}}`],
    ['data', '{"image_url":{"url":"data:image/png;base64,AAAA"}}'],
  ])('is refused where an example has an image as %s', async (_form, part) => {
    const lines = `${EXAMPLE}\n{"messages":[{"role":"user","content":[${part}]}]}\n`;
    gateway.provider.replyWith((response, call) =>
      (call.path.includes('/files/') ? text(lines, 'application/jsonl') : reply)(response, call),
    );
    await limit(TOKENS);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'training_file' });
    expect(answer.text).toContain('line 2 has an image');
    expect(sent()).toBe(0);
  });

  it('is refused where training has no price, which the message names', async () => {
    await limit(TOKENS);
    const answer = await create({ ...JOB, model: 'n' });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'price_unknown' });
    expect(answer.text).toContain(String.raw`\"unit\":\"training\"`);
  });
});

describe('a fine-tuning job that is paused and resumed', () => {
  const act = (what: 'pause' | 'resume' | 'cancel', id = 'ftjob-1'): Promise<Answer> =>
    gateway.admin.post(`${PATH}/${id}/${what}`, {}, { 'x-gateway-virtual-key': openai });
  const bucket = async (): Promise<unknown> => {
    const [found] = await gateway.app.dataSource.query('SELECT used, reserved FROM usage_buckets');
    return found;
  };
  const reserved = { used: '0', reserved: String(TOKENS * NANO_PER_TOKEN) };
  /** The gateway has looked at the job since. */
  const looked = async (): Promise<void> => {
    const before = gateway.provider.calls.length;
    await eventually(() => gateway.provider.calls.length > before + 1);
  };

  it.each([
    ['succeeded', { trained_tokens: 500 }, 500],
    ['cancelled', { trained_tokens: 200 }, 200],
    ['failed', { trained_tokens: null }, 0],
  ])('keeps its reservation, and is charged once when it has %s', async (status, fields, tokens) => {
    await limit(TOKENS);
    await create();
    for (const [what, now] of [
      ['pause', 'paused'],
      ['resume', 'queued'],
      ['pause', 'paused'],
      ['resume', 'running'],
      ['resume', 'running'],
    ] as const) {
      state = { status: now, trained_tokens: null };
      expect((await act(what)).status).toBe(200);
      await looked();
      expect(await bucket()).toEqual(reserved);
    }
    expect(refusalOf(await create())).toMatchObject({ status: 429, code: 'usage_limit_contended' });
    state = { status, ...fields };
    await act(status === 'cancelled' ? 'cancel' : 'pause');
    await settled();
    expect((await act('resume')).status).toBe(200);
    const rows = await gateway.books.ledger(1);
    expect(rows.map(({ costNano }) => costNano)).toEqual([String(tokens * NANO_PER_TOKEN)]);
  });

  it('is reserved when it is resumed where no limit was there before, or the gateway does not know it', async () => {
    await create();
    state = { ...JOB, model: 'm', status: 'paused', trained_tokens: null };
    await limit(TOKENS - 1);
    expect(refusalOf(await act('resume'))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    await gateway.app.dataSource.query('DELETE FROM provider_jobs');
    expect(refusalOf(await act('resume'))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    await gateway.reset();
    gateway.provider.replyWith(reply);
    await limit(TOKENS);
    expect((await act('resume')).status).toBe(200);
    expect(await bucket()).toEqual(reserved);
    state = { status: 'succeeded', trained_tokens: 7 };
    await settled();
    expect((await gateway.books.ledger(1)).map(({ tokens }) => tokens)).toEqual(['7']);
  });
});

it('a fine-tuning job without a usage limit has its row in the ledger', async () => {
  expect((await create()).status).toBe(200);
  expect(gateway.provider.calls.map(({ path }) => path)).not.toContain('/v1/files/file-1/content');
  state = { status: 'succeeded', trained_tokens: 40 };
  await settled();
  expect(await gateway.books.ledger(1)).toMatchObject([
    { endpoint: 'fine_tuning', model: 'm-2026-01-01', quantities: { training: 40 } },
  ]);
});
