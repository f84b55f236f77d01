// Runs are reserved by their caps or by the size of their model, and settled once by their usage.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readArray } from '../src/common/json/read.js';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { eventually } from './support/eventually.js';
import { json, silence } from './support/fake-provider.js';
import { FakeRuns } from './support/fake-runs.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const NANO = 1e9;
/** In billionths of a US dollar. */
const PRICE = { input: 1_000, output: 4_000 };
const CAPS = { max_prompt_tokens: 1_000, max_completion_tokens: 500 };
const CAPPED_NANO = 1_000 * PRICE.input + 500 * PRICE.output;
const USED = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
const USED_NANO = 100 * PRICE.input + 50 * PRICE.output;
const FUNCTION = { type: 'function', function: { name: 'look_up' } };
/** A model with a known size, and what one call of it costs at most. */
const KNOWN = { model: 'gpt-4o', input: 128_000, output: 16_384 };
const KNOWN_NANO = KNOWN.input * PRICE.input + KNOWN.output * PRICE.output;
const RUNS = '/v1/threads/thread_1/runs';
const REQUIRES = { status: 'requires_action', required_action: { type: 'submit_tool_outputs' } };

let gateway: UsageGateway;
let openai: string;
let account: FakeRuns;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_JOB_CHECK_MS: '100', USAGE_LEASE_MARGIN_MS: '1000' });
  openai = await gateway.virtualKey('openai', { path: '/v1', config: { timeout_ms: 3_000 } });
  for (const model of ['m', KNOWN.model])
    for (const [unit, nano] of Object.entries(PRICE))
      await gateway.admin.create('/v1/prices', { provider: 'openai', model, unit, price: (nano / NANO).toFixed(12) });
});
beforeEach(async () => {
  await gateway.app.dataSource.query('DELETE FROM provider_jobs');
  await gateway.app.dataSource.query('DELETE FROM usage_reservations');
  await gateway.reset();
  account = new FakeRuns();
  account.assistants.set('asst_1', { id: 'asst_1', model: 'm', tools: [] });
  account.assistants.set('asst_known', { id: 'asst_known', model: KNOWN.model, tools: [FUNCTION] });
  account.assistants.set('asst_hosted', { id: 'asst_hosted', model: KNOWN.model, tools: [{ type: 'file_search' }] });
  gateway.provider.replyWith(account.reply);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const post = (path: string, body: object): Promise<Answer> =>
  gateway.admin.post(path, body, { 'x-gateway-virtual-key': openai });
const create = (body: object = {}, path = RUNS): Promise<Answer> =>
  post(path, { assistant_id: 'asst_1', ...CAPS, ...body });
const submit = (body: object = {}, run = 'run_1'): Promise<Answer> =>
  post(`${RUNS}/${run}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: 'call_1', output: '7' }], ...body });
const read = (path: string): Promise<Answer> => gateway.admin.get(path, { 'x-gateway-virtual-key': openai });
const limit = (nano: number, more: object = {}): Promise<string> =>
  gateway.limit({ conditions: [{ key: 'endpoint', value: 'threads' }], credit_limit: nano / NANO, ...more });
const jobs = (): Promise<readonly ProviderJob[]> => gateway.app.dataSource.getRepository(ProviderJob).find();
const settled = (): Promise<void> =>
  eventually(async () => {
    const known = await jobs();
    return known.length > 0 && known.every(({ settledAt }) => settledAt !== null);
  });
/** No job is due for the poller while the clock stands still: on a busy machine, it would look before a test is done. */
const stopPoller = (): void => {
  const { clock } = gateway.app;
  jest.spyOn(clock, 'now').mockReturnValue(clock.now());
};
const usage = async (policy: string): Promise<unknown> => {
  const { data } = Object(jsonOf(await gateway.admin.get(`/v1/policies/usage-limits/${policy}/entities`)));
  return data.map(({ current_usage, reserved }: Record<string, unknown>) => [current_usage, reserved]);
};
const sent = (method: string): readonly string[] =>
  gateway.provider.calls.flatMap((call) => (call.method === method ? call.path : []));

describe('a run under a usage limit', () => {
  it('that does not fit is refused before it is sent', async () => {
    const policy = await limit(CAPPED_NANO - 1);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(answer.headers['x-gateway-limit-policy']).toBe(policy);
    expect(sent('POST')).toEqual([]);
    expect(await jobs()).toEqual([]);
  });

  it.each([
    ['admitted', CAPPED_NANO, 200],
    ['exceeded', CAPPED_NANO - 1, 412],
  ])('is %s, as a simulation says', async (decision, nano, status) => {
    await limit(nano);
    const call = { virtual_key: openai, endpoint: 'threads', model: 'm', estimate: { cost: CAPPED_NANO / NANO } };
    const simulated = await gateway.admin.post('/v1/policies/usage-limits/simulate', call);
    expect(jsonOf(simulated)).toMatchObject({ decision });
    expect((await create()).status).toBe(status);
    if (status !== 200) return;
    account.change('run_1', { status: 'failed', usage: USED });
    await settled();
  });

  it('is reserved by its caps, and settled once by its usage', async () => {
    const policy = await limit(CAPPED_NANO);
    const answer = await create();
    expect([answer.status, answer.headers['x-gateway-limit-remaining']]).toEqual([200, '0']);
    expect(await usage(policy)).toEqual([[0, CAPPED_NANO / NANO]]);
    expect(refusalOf(await create())).toMatchObject({ status: 429, code: 'usage_limit_contended' });
    account.change('run_1', { status: 'completed', usage: { ...USED, prompt_token_details: { cached_tokens: 0 } } });
    await settled();
    for (let reads = 0; reads < 3; reads += 1) expect((await read(`${RUNS}/run_1`)).status).toBe(200);
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(await gateway.books.ledger(1)).toMatchObject([
      {
        endpoint: 'threads',
        model: 'm',
        costNano: String(USED_NANO),
        quantities: { input: 100, output: 50 },
        source: 'provider',
        outcome: 'answered',
      },
    ]);
    expect(gateway.provider.calls.find(({ path }) => path === '/v1/assistants/asst_1')?.headers['openai-beta']).toBe(
      'assistants=v2',
    );
  });

  it.each([`${RUNS}/run_1`, `${RUNS}?limit=20`])('is settled when a caller reads %s', async (path) => {
    const policy = await limit(CAPPED_NANO);
    stopPoller();
    await create();
    account.change('run_1', { status: 'completed', usage: USED });
    expect((await read(path)).status).toBe(200);
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    // What was read says it all.
    expect(sent('GET').filter((sentPath) => sentPath.includes('/runs'))).toHaveLength(1);
  });

  it('is settled by the last event of its stream, without being asked for', async () => {
    const policy = await limit(CAPPED_NANO);
    account.streams = [{ status: 'in_progress' }, { status: 'completed', usage: USED }];
    stopPoller();
    const answer = await create({ stream: true });
    expect(answer.text).toContain('event: thread.run.completed');
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(sent('GET')).toEqual(['/v1/assistants/asst_1']);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: String(USED_NANO), source: 'provider' }]);
  });

  it('is settled by the poller where its stream broke off, with its thread made by the same call', async () => {
    const policy = await limit(CAPPED_NANO);
    account.replyToPost = (run) => (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: thread.created\ndata: {"id":"thread_new"}\n\n');
      const event = `event: thread.run.created\ndata: ${JSON.stringify(run)}\n\n`;
      response.write(event, () => setTimeout(() => response.destroy(), 50));
    };
    await expect(create({ Stream: true }, '/v1/threads/runs')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await usage(policy)).toEqual([[0, CAPPED_NANO / NANO]]);
    account.change('run_1', { status: 'incomplete', usage: USED });
    await settled();
    expect(sent('GET')).toContain('/v1/threads/thread_new/runs/run_1');
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
  });

  it('whose create is not answered stays reserved, is found again in its thread and settled', async () => {
    const policy = await limit(CAPPED_NANO);
    account.replyToPost = () => silence;
    expect(refusalOf(await create())).toMatchObject({ status: 504, code: 'provider_timeout' });
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
  });

  it('is settled by the answer to its create where that is its end', async () => {
    const policy = await limit(CAPPED_NANO);
    account.replyToPost = (run) => json(account.change(run.id, { status: 'completed', usage: USED }));
    stopPoller();
    expect((await create()).status).toBe(200);
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(sent('GET')).toEqual(['/v1/assistants/asst_1']);
  });

  it('that the provider refuses costs nothing', async () => {
    const policy = await limit(CAPPED_NANO);
    account.replyToPost = () => json({ error: { message: 'the thread has an active run' } }, 400);
    expect((await create()).status).toBe(400);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', outcome: 'failed' }]);
    expect(await usage(policy)).toEqual([]);
    expect(await jobs()).toEqual([]);
  });

  it.each([
    ['failed before it started', { status: 'failed', usage: null }, '0', 'computed'],
    ['expired with its usage', { status: 'expired', usage: USED }, String(USED_NANO), 'provider'],
    ['was cancelled at work', { status: 'cancelled', started_at: 1, usage: null }, String(CAPPED_NANO), 'computed'],
    [
      'counts what cannot be true',
      { status: 'completed', usage: { prompt_tokens: 1e300, completion_tokens: 3 } },
      String(CAPPED_NANO),
      'computed',
    ],
    ['counts nothing', { status: 'completed', usage: { prompt_tokens: 0 } }, String(CAPPED_NANO), 'computed'],
  ])('that %s is charged for what it may have done', async (_what, fields, costNano, source) => {
    await limit(CAPPED_NANO);
    await create();
    account.change('run_1', fields);
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano, source }]);
  });

  it('is reserved by the size of its model where it has no caps', async () => {
    await limit(KNOWN_NANO - 1);
    const body = { assistant_id: 'asst_known', max_prompt_tokens: null, max_completion_tokens: undefined };
    expect(refusalOf(await create(body))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(refusalOf(await create({ ...body, model: 'm', tools: [] }))).toMatchObject({ param: 'max_prompt_tokens' });
    expect(sent('POST')).toEqual([]);
  });

  it.each([
    ['assistant_id', { assistant_id: 'asst_gone' }, 'the assistant cannot be read: 404'],
    ['assistant_id', { assistant_id: null }, 'it names no assistant'],
    ['max_prompt_tokens', { max_prompt_tokens: null }, 'the size of the model is not known'],
    ['max_completion_tokens', { max_completion_tokens: '500' }, 'the size of the model is not known'],
    ['max_completion_tokens', { Max_Completion_Tokens: null }, 'it is there more than once'],
    ['model', { model: 'm', MODEL: 'n' }, 'it is there more than once'],
    ['max_prompt_tokens', { assistant_id: 'asst_hosted', max_prompt_tokens: null }, 'many times'],
  ])('is refused where %s leaves open what it may use: %j', async (param, body, reason) => {
    await limit(CAPPED_NANO);
    const answer = await create(body);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
    expect(answer.text).toContain(reason);
    expect(sent('POST')).toEqual([]);
  });

  it('may use tools of the provider within its caps', async () => {
    await limit(CAPPED_NANO);
    expect((await create({ assistant_id: 'asst_hosted' })).status).toBe(200);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
  });

  it('is refused where its model has no price, and falls under limits on its model', async () => {
    await limit(CAPPED_NANO);
    expect(refusalOf(await create({ model: 'n', tools: [] }))).toMatchObject({ status: 412, code: 'price_unknown' });
    await gateway.reset();
    gateway.provider.replyWith(account.reply);
    await limit(1, { conditions: [{ key: 'model', value: 'm' }] });
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
  });
});

describe('a run that a caller goes on with', () => {
  const begin = (more: object = {}): Promise<Answer> =>
    create({ assistant_id: 'asst_known', max_prompt_tokens: null, max_completion_tokens: null, ...more });

  it('is reserved for one more call of its model, and charged once for all', async () => {
    const policy = await limit(2 * KNOWN_NANO);
    expect((await begin()).status).toBe(200);
    account.change('run_1', REQUIRES);
    expect((await submit()).status).toBe(200);
    expect(await usage(policy)).toEqual([[0, (2 * KNOWN_NANO) / NANO]]);
    account.change('run_1', REQUIRES);
    const refused = await submit();
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(sent('POST')).toHaveLength(2);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it('gives back what was reserved for outputs that the provider refuses', async () => {
    const policy = await limit(2 * KNOWN_NANO);
    await begin();
    account.change('run_1', REQUIRES);
    account.replyToPost = () => json({ error: { message: 'no such call' } }, 400);
    for (let times = 0; times < 2; times += 1) {
      expect((await submit()).status).toBe(400);
      // Once its answer is out.
      await eventually(async () => isDeepStrictEqual(await usage(policy), [[0, KNOWN_NANO / NANO]]));
    }
    account.replyToPost = (run) => json(run);
    expect((await submit()).status).toBe(200);
    expect(await usage(policy)).toEqual([[0, (2 * KNOWN_NANO) / NANO]]);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it('gives it back also where the gateway looks at the run at the same time', async () => {
    const policy = await limit(2 * KNOWN_NANO);
    await begin();
    account.change('run_1', REQUIRES);
    let look: (() => void) | undefined;
    gateway.provider.replyWith((response, call) => {
      if (look !== undefined || call.method !== 'GET') account.reply(response, call);
      else look = () => account.reply(response, call);
    });
    await eventually(() => look !== undefined);
    const [{ endsAt } = { endsAt: new Date(0) }] = await jobs();
    account.replyToPost = () => (response, call) => {
      look?.();
      const isProlonged = async (): Promise<boolean> => (await jobs()).every((job) => job.endsAt > endsAt);
      void eventually(isProlonged).then(() => json({ error: { message: 'no such call' } }, 400)(response, call));
    };
    expect((await submit()).status).toBe(400);
    await eventually(async () => isDeepStrictEqual(await usage(policy), [[0, KNOWN_NANO / NANO]]));
  });

  it('keeps what was reserved for outputs whose answer is not known', async () => {
    const policy = await limit(2 * KNOWN_NANO);
    await begin();
    account.change('run_1', REQUIRES);
    account.replyToPost = () => silence;
    expect((await submit()).status).toBe(504);
    expect(await usage(policy)).toEqual([[0, (2 * KNOWN_NANO) / NANO]]);
  });

  it('keeps what was reserved for outputs that were taken while others were refused', async () => {
    const policy = await limit(4 * KNOWN_NANO);
    await begin();
    account.change('run_1', REQUIRES);
    let taken = 0;
    account.replyToPost = (run) => (response, call) => {
      taken += 1;
      const reply = taken === 1 ? json(run) : json({ error: { message: 'it goes on already' } }, 400);
      setTimeout(() => reply(response, call), 100);
    };
    const answers = await Promise.all([submit(), submit(), submit()]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400]);
    const [[, reserved = 0] = []] = readArray(await usage(policy), 'usage').map((row) =>
      readArray(row, 'row').map(Number),
    );
    expect(reserved).toBeGreaterThanOrEqual((2 * KNOWN_NANO) / NANO);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
  });

  it('gives back all of it where no limit was there when it began', async () => {
    await begin();
    account.change('run_1', REQUIRES);
    const policy = await limit(2 * KNOWN_NANO);
    account.replyToPost = () => json({ error: { message: 'no such call' } }, 400);
    expect((await submit()).status).toBe(400);
    expect(await usage(policy)).toEqual([]);
    account.replyToPost = (run) => json(run);
    expect((await submit()).status).toBe(200);
    expect(await usage(policy)).toEqual([[0, KNOWN_NANO / NANO]]);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
  });

  it('needs nothing more where it has caps, and is settled by the stream of its last step', async () => {
    const policy = await limit(CAPPED_NANO);
    account.streams = [REQUIRES];
    await create({ assistant_id: 'asst_known', model: 'm', stream: true });
    account.streams = [{ status: 'completed', usage: USED }];
    expect((await submit({ stream: true })).text).toContain('thread.run.completed');
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it('is reserved as a whole where no limit was there when it began, or the gateway does not know it', async () => {
    await begin();
    account.change('run_1', REQUIRES);
    account.change('run_other', { ...account.runs.get('run_1'), ...REQUIRES });
    const policy = await limit(2 * KNOWN_NANO);
    for (const run of ['run_1', 'run_other']) expect((await submit({}, run)).status).toBe(200);
    expect(await usage(policy)).toEqual([[0, (2 * KNOWN_NANO) / NANO]]);
    for (const run of ['run_1', 'run_other']) account.change(run, { status: 'completed', usage: USED });
    await settled();
    expect(await usage(policy)).toEqual([[(2 * USED_NANO) / NANO, 0]]);
    expect(await gateway.books.ledger(2)).toHaveLength(2);
  });

  it.each(['thread_1%2Frun_1/runs/x', 'thread_1%00/runs/run_1', 'thread_1/runs/%F0%9F%98%80'])(
    'is not taken for another one by an odd id: %s',
    async (path) => {
      account.change('run_1', { ...REQUIRES, ...CAPS, model: 'm', tools: [] });
      await limit(CAPPED_NANO);
      const answer = await post(`/v1/threads/${path}/submit_tool_outputs`, { tool_outputs: [] });
      expect([400, 404, 412]).toContain(answer.status);
      expect(sent('POST')).toEqual([]);
    },
  );

  it('is refused where it does not fit, also with a tool of the provider', async () => {
    account.change('run_9', { ...REQUIRES, model: KNOWN.model, tools: [{ type: 'code_interpreter' }] });
    await limit(KNOWN_NANO);
    expect(refusalOf(await submit({}, 'run_9'))).toMatchObject({
      code: 'usage_not_bounded',
      param: 'max_prompt_tokens',
    });
    expect(refusalOf(await submit({}, 'run_gone'))).toMatchObject({ status: 404, source: 'provider' });
    expect(sent('POST')).toEqual([]);
  });
});

describe('a run without a usage limit', () => {
  it('is sent as it came, without a look at its assistant, and has its row in the ledger', async () => {
    expect((await create({ max_prompt_tokens: null })).status).toBe(200);
    expect(gateway.provider.calls.map(({ method, path }) => `${method} ${path}`)[0]).toBe(`POST ${RUNS}`);
    account.change('run_1', REQUIRES);
    expect((await submit()).status).toBe(200);
    account.change('run_1', { status: 'completed', usage: USED });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { endpoint: 'threads', model: 'm', costNano: String(USED_NANO), bucketIds: [], source: 'provider' },
    ]);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it('is counted when the gateway first sees it with the outputs of its functions', async () => {
    account.change('run_5', { ...REQUIRES, model: 'm' });
    account.streams = [{ status: 'completed', usage: USED }];
    expect((await submit({ stream: true }, 'run_5')).status).toBe(200);
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ model: 'm', costNano: String(USED_NANO) }]);
  });
});
