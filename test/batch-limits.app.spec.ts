// Batches are reserved from their input file, and settled once when they are over.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { eventually } from './support/eventually.js';
import { FakeBatches } from './support/fake-batches.js';
import { json, silence } from './support/fake-provider.js';
import { type Answer, errorIn, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const LINES = 1_000;
/** Of one line: its body and the frame of a conversation, and the output that it allows. */
const CALL = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const INPUT = JSON.stringify(CALL).length + 64;
/** In billionths of a US dollar: half of the standard prices. */
const BATCH_PRICE = { input: 500, output: 2_000 };
const LINE_NANO = INPUT * BATCH_PRICE.input + 100 * BATCH_PRICE.output;
const NANO = 1e9;
const USED = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const USED_NANO = 10 * BATCH_PRICE.input + 20 * BATCH_PRICE.output;
/** Of the virtual key for creates that are not answered in time. A busy machine takes a second for one that is. */
const HASTY_MS = 2_000;
const BATCH = { endpoint: '/v1/chat/completions', completion_window: '24h' };

let gateway: UsageGateway;
let openai: string;
let hasty: string;
let account: FakeBatches;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_JOB_CHECK_MS: '100', USAGE_LEASE_MARGIN_MS: '1000' });
  openai = await gateway.virtualKey('openai-compatible', { path: '/v1' });
  hasty = await gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: HASTY_MS } });
  for (const mode of ['standard', 'batch'] as const) {
    const times = mode === 'batch' ? 1 : 2;
    for (const [unit, nano] of Object.entries(BATCH_PRICE)) {
      const price = ((times * nano) / NANO).toFixed(12);
      await gateway.admin.create('/v1/prices', { provider: 'openai-compatible', model: 'm', unit, mode, price });
    }
  }
});
beforeEach(async () => {
  await gateway.app.dataSource.query('DELETE FROM provider_jobs');
  await gateway.app.dataSource.query('DELETE FROM usage_reservations');
  await gateway.reset();
  account = new FakeBatches();
  gateway.provider.replyWith(account.reply);
  account.upload('file-1', Array(LINES).fill(CALL));
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const create = (body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  gateway.admin.post(
    '/v1/batches',
    { ...BATCH, input_file_id: 'file-1', ...body },
    {
      'x-gateway-virtual-key': openai,
      ...headers,
    },
  );
const read = (path: string): Promise<Answer> => gateway.admin.get(path, { 'x-gateway-virtual-key': openai });
const limit = (lines: number, more: object = {}): Promise<string> =>
  gateway.limit({
    conditions: [{ key: 'endpoint', value: 'batches' }],
    credit_limit: (lines * LINE_NANO) / NANO,
    ...more,
  });
const jobs = (): Promise<readonly ProviderJob[]> => gateway.app.dataSource.getRepository(ProviderJob).find();
const settled = (): Promise<void> =>
  eventually(async () => (await jobs()).every(({ settledAt }) => settledAt !== null));
const usage = async (policy: string): Promise<unknown> => {
  const { data } = Object(jsonOf(await gateway.admin.get(`/v1/policies/usage-limits/${policy}/entities`)));
  return data.map(({ current_usage, reserved }: Record<string, unknown>) => ({ current_usage, reserved }));
};
const createsSent = (): number => gateway.provider.calls.filter(({ method }) => method === 'POST').length;

describe('a batch under a usage limit', () => {
  it('of 1,000 lines is refused at submit where 900 fit', async () => {
    const policy = await limit(900);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(answer.headers['x-gateway-limit-policy']).toBe(policy);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(createsSent()).toBe(0);
    expect(await gateway.books.open()).toBe(0);
    expect(await jobs()).toEqual([]);
  });

  it('is created within the time limit of its virtual key, however long its file took to read', async () => {
    await limit(LINES);
    const file = account.files.get('file-1') ?? '';
    gateway.provider.replyWith((response, call) => {
      if (call.method !== 'GET') return account.reply(response, call);
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      const pieces = [0, 1, 2, 3].map((at) => file.slice((at * file.length) / 4, ((at + 1) * file.length) / 4));
      for (const [at, piece] of pieces.entries()) setTimeout(() => response.write(piece), at * 0.4 * HASTY_MS);
      setTimeout(() => response.end(), 1.3 * HASTY_MS);
    });
    expect((await create({}, { 'x-gateway-virtual-key': hasty })).status).toBe(200);
  });

  it('is simulated as it is decided, by its cost', async () => {
    const simulated = async (lines: number): Promise<unknown> => {
      const call = { virtual_key: openai, endpoint: 'batches', model: 'm' };
      const estimate = { cost: (lines * LINE_NANO) / NANO };
      return jsonOf(await gateway.admin.post('/v1/policies/usage-limits/simulate', { ...call, estimate }));
    };
    const policy = await limit(LINES, { group_by: [{ key: 'organisation_id' }] });
    expect(await simulated(LINES)).toMatchObject({ decision: 'admitted', policies: [{ policy_id: policy }] });
    expect(await simulated(LINES + 1)).toMatchObject({ decision: 'exceeded' });
    expect((await create()).status).toBe(200);
    expect(await simulated(1)).toMatchObject({ decision: 'contended' });
    account.upload('file-1', [CALL]);
    expect((await create()).status).toBe(429);
  });

  it('is simulated as it is decided, by its quantities and the prices of batches', async () => {
    const call = { provider: 'openai-compatible', endpoint: 'batches', model: 'm' };
    const simulated = async (lines: number, more: object = {}): Promise<unknown> => {
      const estimate = { quantities: { input: lines * INPUT, output: lines * 100 } };
      return jsonOf(await gateway.admin.post('/v1/policies/usage-limits/simulate', { ...call, estimate, ...more }));
    };
    const policy = await limit(900);
    expect(await simulated(LINES)).toMatchObject({ decision: 'exceeded', policies: [{ policy_id: policy }] });
    expect((await create()).status).toBe(412);
    expect(await simulated(900)).toMatchObject({ decision: 'admitted' });
    expect(await simulated(901, { provider: undefined, virtual_key: openai })).toMatchObject({ decision: 'exceeded' });
    // What the caller says that it costs counts before prices.
    const said = { cost: 0, quantities: { input: 1e9 } };
    expect(await simulated(1, { estimate: said })).toMatchObject({ decision: 'admitted' });
    // At the prices of other calls, which are twice as high.
    await gateway.limit({ credit_limit: (900 * LINE_NANO) / NANO });
    expect(await simulated(900)).toMatchObject({ decision: 'admitted' });
    expect(await simulated(451, { endpoint: 'chat' })).toMatchObject({ decision: 'exceeded' });
    expect(await simulated(450, { endpoint: 'chat' })).toMatchObject({ decision: 'admitted' });
  });

  it('whose model lacks a price of a unit is refused as its simulation says', async () => {
    const price = { provider: 'openai-compatible', model: 'half-priced', unit: 'input', price: '0.001' };
    await gateway.admin.create('/v1/prices', price);
    const call = { provider: 'openai-compatible', endpoint: 'batches', model: 'half-priced' };
    const decided = async (quantities: object): Promise<unknown> => {
      const body = { ...call, estimate: { quantities } };
      return Object(jsonOf(await gateway.admin.post('/v1/policies/usage-limits/simulate', body)));
    };
    const used = { input: 1, output: 1 };
    const policy = await limit(1_000, { enforcement: 'monitor' });
    expect(await decided(used)).toMatchObject({ decision: 'admitted', policies: [{ decision: 'price_unknown' }] });
    const strict = await limit(1_000, { group_by: [{ key: 'organisation_id' }] });
    expect(await decided(used)).toMatchObject({ decision: 'price_unknown' });
    expect(await decided({ input: 1 })).toMatchObject({ decision: 'admitted' });
    account.upload('file-1', [{ ...CALL, model: 'half-priced' }]);
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'price_unknown' });
    for (const id of [policy, strict]) await gateway.admin.delete(`/v1/policies/usage-limits/${id}`);
    await limit(1_000, { type: 'tokens', credit_limit: 1_000 });
    expect(await decided(used)).toMatchObject({ decision: 'admitted' });
  });

  it('that fits is reserved to the cent, and settled once by the lines of its output', async () => {
    const policy = await limit(LINES);
    const answer = await create();
    expect([answer.status, answer.headers['x-gateway-limit-remaining']]).toEqual([200, '0']);
    expect(await usage(policy)).toEqual([{ current_usage: 0, reserved: (LINES * LINE_NANO) / NANO }]);
    expect((await create()).status).toBe(429);
    account.answer('out-1', Array(LINES).fill({ model: 'm-2026-01-01', usage: USED }));
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    const cost = (LINES * USED_NANO) / NANO;
    expect(await usage(policy)).toEqual([{ current_usage: cost, reserved: 0 }]);
    for (let reads = 0; reads < 3; reads += 1) expect((await read('/v1/batches/batch_1')).status).toBe(200);
    expect(await gateway.books.ledger(1)).toMatchObject([
      {
        endpoint: 'batches',
        model: 'm',
        costNano: String(LINES * USED_NANO),
        quantities: { input: 10 * LINES, output: 20 * LINES },
        source: 'provider',
        outcome: 'answered',
        mode: 'batch',
      },
    ]);
  });

  it('is settled by the usage that the batch itself reports, without its output', async () => {
    const policy = await limit(LINES);
    await create();
    const reported = { input_tokens: 5_000, input_tokens_details: { cached_tokens: 1_000 }, output_tokens: 7_000 };
    account.finish('batch_1', {
      status: 'completed',
      usage: reported,
      request_counts: { total: LINES, completed: LINES },
    });
    await settled();
    const nano = 5_000 * BATCH_PRICE.input + 7_000 * BATCH_PRICE.output;
    expect(await usage(policy)).toEqual([{ current_usage: nano / NANO, reserved: 0 }]);
    const [row] = await gateway.books.ledger(1);
    expect(row?.quantities).toEqual({ input: 4_000, cache_read: 1_000, output: 7_000 });
    expect(gateway.provider.calls.filter(({ path }) => path.includes('/files/')).length).toBe(1);
  });

  it.each(['failed', 'cancelled', 'expired'])('that is %s without results costs nothing', async (status) => {
    const policy = await limit(LINES);
    await create();
    account.finish('batch_1', { status, request_counts: { total: LINES, completed: 0, failed: 0 } });
    await settled();
    expect(await usage(policy)).toEqual([]);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', source: 'computed' }]);
  });

  it('that is cancelled is charged for what it has done', async () => {
    const policy = await limit(LINES);
    await create();
    account.answer('out-1', Array(3).fill({ model: 'm', usage: USED }));
    account.finish('batch_1', { status: 'cancelled', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (3 * USED_NANO) / NANO, reserved: 0 }]);
  });

  it('is settled when a caller reads it, before the gateway would look again', async () => {
    const policy = await limit(LINES);
    await create();
    await gateway.app.dataSource.query(`UPDATE provider_jobs SET next_check_at = now() + interval '1 hour'`);
    account.answer('out-1', [{ model: 'm', usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    expect((await read('/v1/batches?limit=100')).status).toBe(200);
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: USED_NANO / NANO, reserved: 0 }]);
  });

  it('whose results have no usage is charged its bound', async () => {
    const policy = await limit(LINES);
    await create();
    account.answer('out-1', [{ model: 'm', usage: USED }, { model: 'm' }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
    expect(await gateway.books.ledger(1)).toMatchObject([{ source: 'computed' }]);
  });

  it.each([
    ['negative', { prompt_tokens: -5, completion_tokens: 3 }],
    ['more than can be true', { prompt_tokens: 1e300, completion_tokens: 3 }],
    ['text', { prompt_tokens: '1e3', completion_tokens: 3 }],
    ['without its output', { prompt_tokens: 10 }],
    ['zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ])('of which a call reports usage that is %s is charged its bound', async (_what, used) => {
    const policy = await limit(LINES);
    await create();
    account.answer('out-1', [
      { model: 'm', usage: USED },
      { model: 'm', usage: used },
    ]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
  });

  it.each([0, 1, 999])('that has %i results, and counts more, is charged its bound', async (results) => {
    const policy = await limit(LINES);
    await create();
    account.answer('out-1', Array(results).fill({ model: 'm', usage: USED }));
    const counts = { total: LINES, completed: LINES, failed: 0 };
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1', request_counts: counts });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
  });

  it.each([
    ['the other form of usage with zeros', { usage: { ...USED, input_tokens: 0, output_tokens: 0 } }],
    [
      'searches, which have no price',
      { usage: { input_tokens: 10, output_tokens: 20 }, tool_usage: { web_search: { num_requests: 1 } } },
    ],
  ])('whose results have %s is charged for its tokens', async (_what, result) => {
    const policy = await limit(LINES);
    await create();
    account.answer('out-1', [{ model: 'm', ...result }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: USED_NANO / NANO, reserved: 0 }]);
  });

  it('of embeddings is charged for its input where it reports an output of zero', async () => {
    const price = { provider: 'openai-compatible', model: 'embed', unit: 'input', price: '0.000001' };
    await gateway.admin.create('/v1/prices', price);
    account.upload('file-1', [{ model: 'embed', input: 'Hello' }], '/v1/embeddings');
    await limit(LINES);
    await create({ endpoint: '/v1/embeddings' });
    account.finish('batch_1', { status: 'completed', usage: { input_tokens: 8, output_tokens: 0 } });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '8000', quantities: { input: 8, output: 0 } }]);
  });

  it.each(['a\0b', 'a\ud800b'])('of a model whose name PostgreSQL cannot store is metered: %j', async (model) => {
    account.upload('file-1', [{ ...CALL, model }]);
    const policy = await limit(LINES, { type: 'tokens', credit_limit: 1_000_000 });
    expect((await create()).status).toBe(200);
    account.answer('out-1', [{ model, usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: 30, reserved: 0 }]);
  });

  it('whose results are too large to be read is charged its bound at once', async () => {
    const policy = await limit(LINES);
    await create();
    account.files.set('out-1', '{}\n'.repeat(100_001));
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
  });

  it('whose results are not there is charged its bound, once they had time to appear', async () => {
    const policy = await limit(LINES);
    await create();
    const counts = { total: LINES, completed: 1, failed: LINES - 1 };
    const over = { status: 'completed', output_file_id: 'out-1', request_counts: counts };
    account.finish('batch_1', { ...over, completed_at: Math.floor(Date.now() / 1_000) });
    const reads = (): number => gateway.provider.calls.filter(({ path }) => path.includes('/out-1/')).length;
    await eventually(() => reads() > 2);
    expect((await jobs()).map(({ settledAt }) => settledAt)).toEqual([null]);
    account.finish('batch_1', { completed_at: Math.floor(Date.now() / 1_000) - 700 });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
    expect(await gateway.books.ledger(1)).toMatchObject([{ source: 'computed' }]);
  });

  it.each([
    ['has just ended', Math.floor(Date.now() / 1_000)],
    ['names no end', null],
  ])('whose results appear late is charged by them where it %s', async (_when, completed_at) => {
    const policy = await limit(LINES);
    await create();
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1', completed_at });
    await eventually(() => gateway.provider.calls.some(({ path }) => path.includes('/out-1/')));
    account.answer('out-1', [{ model: 'm', usage: USED }]);
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: USED_NANO / NANO, reserved: 0 }]);
  });

  it('that is over and says neither its results nor their number is charged its bound', async () => {
    const policy = await limit(LINES);
    await create();
    account.finish('batch_1', { status: 'completed' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
  });

  it('whose create is refused by the provider gives back what was reserved', async () => {
    const policy = await limit(LINES);
    account.replyToCreate = () => json({ error: { message: 'too many batches' } }, 400);
    expect((await create()).status).toBe(400);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', outcome: 'failed' }]);
    expect(await usage(policy)).toEqual([]);
    expect(await jobs()).toEqual([]);
  });

  it('whose create is not answered stays reserved, is found again and settled', async () => {
    const policy = await limit(LINES);
    account.replyToCreate = () => silence;
    const answer = await create({}, { 'x-gateway-virtual-key': hasty });
    expect(refusalOf(answer)).toMatchObject({ status: 504, code: 'provider_timeout' });
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(await usage(policy)).toEqual([{ current_usage: 0, reserved: (LINES * LINE_NANO) / NANO }]);
    account.answer('out-1', [{ model: 'm', usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: USED_NANO / NANO, reserved: 0 }]);
  });

  it('that is never found again is charged its bound when its time is over', async () => {
    const policy = await limit(LINES);
    account.replyToCreate = () => silence;
    await create({}, { 'x-gateway-virtual-key': hasty });
    account.batches.clear();
    await gateway.app.dataSource.query('UPDATE provider_jobs SET ends_at = now()');
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: (LINES * LINE_NANO) / NANO, reserved: 0 }]);
    expect(await gateway.books.ledger(1)).toMatchObject([{ source: 'presumed', outcome: 'unknown' }]);
  });

  it('is charged once when its create is repeated and answered with the same batch', async () => {
    const policy = await limit(2 * LINES);
    await create({}, { 'idempotency-key': 'same' });
    account.replyToCreate = () => json(account.batches.get('batch_1'));
    await create({}, { 'idempotency-key': 'same' });
    expect(await usage(policy)).toEqual([{ current_usage: 0, reserved: (LINES * LINE_NANO) / NANO }]);
    expect(await jobs()).toHaveLength(1);
    account.finish('batch_1', { status: 'failed' });
    account.finish('batch_2', { status: 'failed' });
    await settled();
  });

  it('of several models has a row for each', async () => {
    for (const unit of ['input', 'output'])
      await gateway.admin.create('/v1/prices', { provider: 'openai-compatible', model: 'n', unit, price: '0.000001' });
    account.upload('file-1', [CALL, { ...CALL, model: 'n' }]);
    await limit(LINES);
    await create();
    account.answer('out-1', [
      { model: 'm', usage: USED },
      { model: 'n-2026-01-01', usage: USED },
    ]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    const rows = await gateway.books.ledger(2);
    expect(rows.map(({ model, costNano }) => `${model} ${costNano}`).toSorted()).toEqual([`m ${USED_NANO}`, 'n 30000']);
  });

  it.each([
    [
      'a line without an output cap',
      [{ ...CALL, max_tokens: undefined }],
      '/v1/chat/completions',
      'line 1: max_completion_tokens',
    ],
    ['a line with a member twice', undefined, '/v1/chat/completions', 'line 1 cannot be read'],
    ['calls without a bound', [CALL], '/v1/moderations', 'line 1 has another url than the batch'],
  ])('is refused for %s', async (_name, bodies, url, reason) => {
    if (bodies === undefined)
      account.files.set('file-1', '{"url":"/v1/chat/completions","body":{"model":"m","model":"n"}}');
    else account.upload('file-1', bodies, url);
    await limit(LINES);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'input_file_id' });
    expect(answer.text).toContain(reason);
    expect(createsSent()).toBe(0);
  });

  it.each([
    ['the file is not there', { input_file_id: 'file-2' }, 'the file cannot be read: 404'],
    ['it names no file', { input_file_id: null }, 'it must name one file'],
    ['it names two files', { Input_File_Id: 'file-2' }, 'it must name one file'],
  ])('is refused where %s', async (_name, body, reason) => {
    await limit(LINES);
    const answer = await create(body);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'input_file_id' });
    expect(answer.text).toContain(reason);
  });

  it('passes where the limit allows what has no bound, and is counted', async () => {
    account.files.delete('file-1');
    const policy = await limit(LINES, { unbounded: 'allow', type: 'tokens', credit_limit: 1_000_000 });
    expect((await create()).status).toBe(200);
    account.answer('out-1', [{ model: 'm', usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await usage(policy)).toEqual([{ current_usage: 30, reserved: 0 }]);
  });

  it('is refused where its model has no price', async () => {
    account.upload('file-1', [{ ...CALL, model: 'unpriced' }]);
    await limit(LINES);
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'price_unknown' });
  });

  it('is refused for the unit that has no price, where its model has one of another', async () => {
    account.upload('file-1', [CALL, { ...CALL, model: 'half' }]);
    const half = { provider: 'openai-compatible', model: 'half', unit: 'output', price: '0.000001' };
    await gateway.admin.create('/v1/prices', half);
    await limit(LINES);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'price_unknown' });
    expect(errorIn(answer)['message']).toContain('"model":"half","unit":"input"');
  });

  it('falls under limits on its model alone', async () => {
    const conditions = [{ key: 'model', value: 'n' }];
    await limit(1, { conditions });
    expect((await create()).status).toBe(200);
    await limit(1, { conditions: [{ key: 'model', value: 'm' }] });
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    account.finish('batch_1', { status: 'failed' });
    await settled();
  });
});

describe('a batch without a usage limit', () => {
  it('is sent as it came, without a look at its file, and has its row in the ledger', async () => {
    const answer = await create();
    expect(answer.status).toBe(200);
    expect(gateway.provider.calls.map(({ method, path }) => `${method} ${path}`)[0]).toBe('POST /v1/batches');
    account.answer('out-1', [
      { model: 'm', usage: USED },
      { model: 'm', usage: USED },
    ]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { endpoint: 'batches', model: 'm', costNano: String(2 * USED_NANO), bucketIds: [], source: 'provider' },
    ]);
  });

  it('of a model whose name PostgreSQL cannot store has its row in the ledger', async () => {
    await create({ input_file_id: 'file-\0' });
    account.answer('out-1', [{ model: 'a\0b', usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ model: 'a\uFFFDb', tokens: '30' }]);
  });

  it('whose results name many models, or a long one, does not flood the ledger', async () => {
    await create();
    account.answer('out-1', [{ model: 'x'.repeat(100_000), usage: USED }]);
    account.finish('batch_1', { status: 'completed', output_file_id: 'out-1' });
    await settled();
    await create();
    const results = Array.from({ length: 17 }, (_, index) => ({ model: `m${index}`, usage: USED }));
    account.answer('out-2', results);
    account.finish('batch_2', { status: 'completed', output_file_id: 'out-2' });
    await settled();
    expect(await gateway.books.ledger(2)).toMatchObject([{ tokens: '30' }, { model: null, quantities: {} }]);
    expect(JSON.stringify(await jobs()).length).toBeLessThan(10_000);
  });

  it('whose results cannot be read has a row without figures', async () => {
    await create();
    account.finish('batch_1', { status: 'completed', request_counts: { total: 1, completed: 1, failed: 0 } });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { model: null, costNano: '0', quantities: {}, source: 'computed' },
    ]);
  });
});
