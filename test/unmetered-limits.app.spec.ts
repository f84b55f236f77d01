// Usage limits and calls that are not metered: batches, fine-tuning jobs, runs.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json } from './support/fake-provider.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/policies/usage-limits';

let gateway: UsageGateway;
let openai: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  openai = await gateway.virtualKey('openai', { path: '/v1' });
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const VALID = { conditions: [], group_by: [{ key: 'api_key' }], type: 'cost', credit_limit: 1 };

describe('a policy', () => {
  it.each([
    ['conditions.0.value', { key: 'endpoint', value: 'batches' }],
    ['conditions.0.value', { key: 'endpoint', value: 'rerunk' }],
    ['conditions.0.value', { key: 'endpoint', value: 'x*' }],
    ['conditions.0.value', { key: 'provider', value: 'openai' }],
    ['conditions.0.value', { key: 'virtual_key', value: 'unknown' }],
    ['conditions.0.value', { key: 'virtual_key', value: ['unknown-*', 'unknown'] }],
    ['conditions.0.excludes', { key: 'virtual_key', value: '*', excludes: 'unknown' }],
    ['conditions.0.excludes', { key: 'metadata.team', value: 'a', excludes: 'a' }],
  ])('is refused by %s when it has the condition %j', async (param, condition) => {
    const answer = await gateway.admin.post(PATH, { ...VALID, conditions: [condition] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect([...brokenRulesOf(answer)]).toEqual([param]);
  });

  it('is refused when it means a virtual key of a provider whose calls are not metered', async () => {
    const conditions = [{ key: 'virtual_key', value: openai }];
    const answer = await gateway.admin.post(PATH, { ...VALID, conditions });
    expect([...brokenRulesOf(answer)]).toEqual(['conditions.0.value']);
    expect(answer.text).toContain('metered endpoints: rerank');
    const both = [{ key: 'virtual_key', value: [openai, gateway.cohere] }];
    await gateway.admin.create(PATH, { ...VALID, conditions: both });
  });

  it('is refused on a change too, but can be written back as it is', async () => {
    const { id } = await gateway.admin.create(PATH, { ...VALID, conditions: [{ key: 'endpoint', value: 'rerank' }] });
    const change = (value: string): object => ({ conditions: [{ key: 'endpoint', value }] });
    const answer = await gateway.admin.patch(`${PATH}/${String(id)}`, change('files'));
    expect(answer.status).toBe(400);
    const same = await gateway.admin.patch(`${PATH}/${String(id)}`, change('rerank'));
    expect(same.status).toBe(200);
  });
});

describe('a simulated call', () => {
  it.each([
    [{ endpoint: 'batches' }, 'not_metered'],
    [{ provider: 'openai' }, 'not_metered'],
    [{ mcp_server: 'files' }, 'not_metered'],
    [{ endpoint: 'rerank', provider: 'cohere' }, 'admitted'],
    [{}, 'admitted'],
  ])('of %j is %s', async (call, decision) => {
    await gateway.limit({ credit_limit: 1 });
    const answer = jsonOf(await gateway.admin.post(`${PATH}/simulate`, { ...call, estimate: { cost: 0.5 } }));
    expect(answer).toMatchObject({ decision, policies: [{ decision }] });
  });

  it('says so by its virtual key, and that a limit is used up', async () => {
    const simulate = async (): Promise<unknown> =>
      jsonOf(await gateway.admin.post(`${PATH}/simulate`, { virtual_key: openai }));
    expect(await simulate()).toMatchObject({ decision: 'not_metered', policies: [] });
    await gateway.limit({ credit_limit: 0 });
    expect(await simulate()).toMatchObject({ decision: 'exceeded' });
  });
});

describe('a call that starts work which is billed later', () => {
  const STARTS = [
    ['/v1/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }],
    ['/v1/fine_tuning/jobs', { model: 'gpt-4o-mini', training_file: 'file-1' }],
    ['/v1/fine_tuning/jobs/job-1/resume', {}],
    ['/v1/threads/runs', { assistant_id: 'asst_1' }],
    ['/v1/threads/thread_1/runs', { assistant_id: 'asst_1' }],
  ] as const;
  const start = (path: string, body: object): ReturnType<UsageGateway['admin']['post']> =>
    gateway.admin.post(path, body, { 'x-gateway-virtual-key': openai });

  it.each(STARTS)('at %s is refused under a limit that is used up', async (path, body) => {
    const policy = await gateway.limit({ credit_limit: 0 });
    const answer = await start(path, body);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(answer.headers['x-gateway-limit-policy']).toBe(policy);
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('is sent while the limit has room, where it only monitors, and where it does not match', async () => {
    gateway.provider.replyWith(json({ id: 'batch_1', object: 'batch' }));
    await gateway.limit({ credit_limit: 0.01 });
    await gateway.limit({ credit_limit: 0, enforcement: 'monitor' });
    await gateway.limit({ credit_limit: 0, conditions: [{ key: 'endpoint', value: 'rerank' }] });
    expect((await start(...STARTS[0])).status).toBe(200);
  });

  it('does not keep reads from an exhausted group', async () => {
    gateway.provider.replyWith(json({ object: 'list', data: [], has_more: false }));
    await gateway.limit({ credit_limit: 0 });
    const headers = { 'x-gateway-virtual-key': openai };
    expect((await gateway.admin.get('/v1/batches', headers)).status).toBe(200);
  });
});
