// Usage limits and calls that are not metered: files, vector stores, graders.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { methodOf } from '../src/gateway/relay/relay-route.js';
import { json } from './support/fake-provider.js';
import { RELAY_ROUTES } from './support/relay-routes.js';
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

const pathOf = (path: string): string => `/v1${path.replaceAll(/\{\w+\}/g, 'id_1')}`;
const VALID = { conditions: [], group_by: [{ key: 'api_key' }], type: 'cost', credit_limit: 1 };

describe('a policy', () => {
  it.each([
    ['conditions.0.value', { key: 'endpoint', value: 'files' }],
    ['conditions.0.value', { key: 'endpoint', value: 'rerunk' }],
    ['conditions.0.value', { key: 'endpoint', value: 'x*' }],
    ['conditions.0.value', { key: 'virtual_key', value: 'unknown' }],
    ['conditions.0.value', { key: 'virtual_key', value: ['unknown-*', 'unknown'] }],
    ['conditions.0.excludes', { key: 'virtual_key', value: '*', excludes: 'unknown' }],
    ['conditions.0.excludes', { key: 'metadata.team', value: 'a', excludes: 'a' }],
    ['conditions.0.value', { key: 'model', value: '@unknown/rerank-v3.5' }],
    ['conditions.0.value', { key: 'model', value: ['rerank-v3.5', '@unknown/*'] }],
    ['conditions.0.value', { key: 'model', value: '@Cohere/rerank-v3.5' }],
    ['conditions.0.excludes', { key: 'model', value: '*', excludes: '@unknown/rerank-v3.5' }],
  ])('is refused by %s when it has the condition %j', async (param, condition) => {
    const answer = await gateway.admin.post(PATH, { ...VALID, conditions: [condition] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect([...brokenRulesOf(answer)]).toEqual([param]);
  });

  it.each(['provider', 'virtual_key', 'model'])('is refused when the %s has no calls of its endpoint', async (key) => {
    const value = key === 'model' ? '@openai/gpt-4o' : openai;
    const rerank = { key: 'endpoint', value: 'rerank' };
    const answer = await gateway.admin.post(PATH, { ...VALID, conditions: [rerank, { key, value }] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    const chat = { key: 'endpoint', value: 'chat' };
    await gateway.admin.create(PATH, { ...VALID, conditions: [chat, { key, value }] });
  });

  it('may name batches of a provider where they are metered', async () => {
    const batches = { key: 'endpoint', value: 'batches' };
    const of = (provider: string): object => ({
      ...VALID,
      conditions: [batches, { key: 'provider', value: provider }],
    });
    for (const provider of ['openai', 'azure-openai', 'openai-compatible', 'bedrock'])
      await gateway.admin.create(PATH, of(provider));
    const answer = await gateway.admin.post(PATH, of('cohere'));
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it.each(['@cohere/*', '@co*', 'baai/bge-reranker', '*'])('accepts the model %s', async (value) => {
    await gateway.admin.create(PATH, { ...VALID, conditions: [{ key: 'model', value }] });
  });

  it('takes a virtual key of its workspace before the name of a model', async () => {
    const slug = 'of-a-workspace';
    await gateway.admin.create('/v1/virtual-keys', { name: slug, slug, provider: 'local', workspace_id: 'default' });
    const { id } = await gateway.admin.create('/v1/workspaces', { name: 'Elsewhere' });
    const conditions = [{ key: 'model', value: `@${slug}/rerank-*` }];
    await gateway.admin.create(PATH, { ...VALID, conditions });
    await gateway.admin.create(PATH, { ...VALID, conditions, workspace_id: 'default' });
    const answer = await gateway.admin.post(PATH, { ...VALID, conditions, workspace_id: id });
    expect([...brokenRulesOf(answer)]).toEqual(['conditions.0.value']);
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
    [{ endpoint: 'files' }, 'not_metered'],
    [{ endpoint: 'batches' }, 'admitted'],
    [{ endpoint: 'threads', provider: 'openai-compatible' }, 'admitted'],
    [{ endpoint: 'vector_stores' }, 'not_metered'],
    [{ endpoint: 'batches', provider: 'bedrock' }, 'admitted'],
    [{ endpoint: 'fine_tuning', provider: 'bedrock' }, 'admitted'],
    [{ provider: 'openai', endpoint: 'rerank' }, 'not_metered'],
    [{ provider: 'openai' }, 'admitted'],
    [{ mcp_server: 'files' }, 'not_metered'],
    [{ endpoint: 'rerank', provider: 'cohere' }, 'admitted'],
    [{ endpoint: 'Rerank', provider: 'Cohere' }, 'admitted'],
    [{}, 'admitted'],
  ])('of %j is %s', async (call, decision) => {
    await gateway.limit({ credit_limit: 1 });
    const answer = jsonOf(await gateway.admin.post(`${PATH}/simulate`, { ...call, estimate: { cost: 0.5 } }));
    expect(answer).toMatchObject({ decision, policies: [{ decision }] });
  });

  it.each([
    ['provider', 'cohre'],
    ['provider', 'co*'],
    ['provider', ''],
    ['endpoint', 'rerunk'],
    ['endpoint', '*'],
    ['virtual_key', 'unknown'],
    ['virtual_key', '*'],
    ['virtual_key', '019aa000-0000-7000-8000-000000000000'],
    ['api_key', 'unknown'],
    ['mcp_server', '019aa000-0000-7000-8000-000000000000'],
  ])('is refused with the %s %j, which no call has', async (field, value) => {
    const answer = await gateway.admin.post(`${PATH}/simulate`, { [field]: value });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: field });
  });

  it('says so by its virtual key, and that a limit is used up', async () => {
    const simulate = async (): Promise<unknown> =>
      jsonOf(await gateway.admin.post(`${PATH}/simulate`, { virtual_key: openai, endpoint: 'files' }));
    expect(await simulate()).toMatchObject({ decision: 'not_metered', policies: [] });
    await gateway.limit({ credit_limit: 0 });
    expect(await simulate()).toMatchObject({ decision: 'exceeded' });
  });
});

describe('a call that starts work which is billed later', () => {
  /** Everything else that changes something at a provider costs, or may. */
  const FREE = [
    'assistants.create',
    'assistants.update',
    'batches.cancel',
    'files.create',
    'fine_tuning.checkpoints.permissions.create',
    'fine_tuning.graders.validate',
    'fine_tuning.jobs.cancel',
    'fine_tuning.jobs.pause',
    'responses.cancel',
    'threads.create',
    'threads.messages.create',
    'threads.messages.update',
    'threads.runs.cancel',
    'threads.runs.update',
    'threads.update',
    'uploads.cancel',
    'uploads.complete',
    'uploads.create',
    'uploads.parts.create',
    'vector_stores.file_batches.cancel',
    'vector_stores.files.update',
    'vector_stores.search',
    'vector_stores.update',
  ];
  const STARTS: readonly (readonly [string, object])[] = [
    ...RELAY_ROUTES.filter((route) => methodOf(route) === 'POST' && !FREE.includes(route.operation)).map(
      ({ path }) => [pathOf(path), {}] as const,
    ),
    ['/v1/assistants', { tool_resources: { file_search: { vector_stores: [{ file_ids: ['file-1'] }] } } }],
    ['/v1/threads', { messages: [{ Attachments: [{ file_id: 'file-1' }] }] }],
    ['/v1/threads/thread_1/messages', { attachments: [{ file_id: 'file-1', tools: [{ type: 'file_search' }] }] }],
  ];
  const start = (path: string, body: object): ReturnType<UsageGateway['admin']['post']> =>
    gateway.admin.post(path, body, { 'x-gateway-virtual-key': openai });

  it('is known for each route', () => {
    const operations = RELAY_ROUTES.map(({ operation }) => operation);
    expect(FREE.filter((operation) => !operations.includes(operation))).toEqual([]);
    expect(STARTS.length).toBeGreaterThan(10);
  });

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
    // These say what they may use, and are reserved.
    const metered = RELAY_ROUTES.filter(({ startsJob, continuesJob }) => startsJob ?? continuesJob);
    const paths = new Set(metered.map(({ path }) => pathOf(path)));
    const others = STARTS.filter(([path]) => !paths.has(path));
    for (const [path, body] of others) expect([path, (await start(path, body)).status]).toEqual([path, 200]);
  });

  it.each([
    ['/v1/assistants', { model: 'gpt-4o', metadata: { attachments: 'x' } }],
    ['/v1/threads', { tool_resources: { file_search: { vector_stores: [] } } }],
    ['/v1/threads/thread_1/messages', { role: 'user', content: 'attachments', attachments: null }],
  ])('is not one at %s without files to keep: %j', async (path, body) => {
    gateway.provider.replyWith(json({ id: 'x', object: 'thread' }));
    await gateway.limit({ credit_limit: 0 });
    expect((await start(path, body)).status).toBe(200);
  });

  it('does not keep reads from an exhausted group', async () => {
    gateway.provider.replyWith(json({ object: 'list', data: [], has_more: false }));
    await gateway.limit({ credit_limit: 0 });
    const headers = { 'x-gateway-virtual-key': openai };
    expect((await gateway.admin.get('/v1/batches', headers)).status).toBe(200);
  });
});
