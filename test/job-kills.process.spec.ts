// Fine-tuning jobs and runs are charged once, to the cent, wherever gateways are killed.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { usageDrift } from '../src/usage/drift.js';
import { rollupDrift } from '../src/usage/rollup-drift.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { json, type Reply, text } from './support/fake-provider.js';
import { FakeRuns } from './support/fake-runs.js';
import { GatewayFleet, POLICIES } from './support/gateway-fleet.js';
import { type Answer, refusalOf } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';

const JOBS = 4;
const EXAMPLE = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
const EPOCHS = 3;
const NANO = 1e9;
/** In billionths of a US dollar. */
const PRICE = { training: 25_000, input: 1_000, output: 4_000 };
const CAPS = { max_prompt_tokens: 1_000, max_completion_tokens: 500 };
/** Of one job and one run: what is reserved, and what is used. */
const RESERVED = {
  fine_tuning: 10 * (EXAMPLE.length + 64) * EPOCHS * PRICE.training,
  threads: 1_000 * PRICE.input + 500 * PRICE.output,
};
const USED = { fine_tuning: 500 * PRICE.training, threads: 100 * PRICE.input + 50 * PRICE.output };

jest.setTimeout(90_000);

onServer('two gateways that look after jobs on one PostgreSQL (needs DATABASE_URL)', () => {
  const account = new FakeRuns();
  const trained = new Map<string, object>();
  let fleet: GatewayFleet;
  let virtualKey: string;

  const replyTo: Reply = (response, call) => {
    if (call.path.endsWith('/content')) return text(`${EXAMPLE}\n`.repeat(10), 'application/jsonl')(response, call);
    if (!call.path.startsWith('/v1/fine_tuning/jobs')) return account.reply(response, call);
    const id = call.method === 'POST' ? `ftjob-${trained.size + 1}` : (call.path.split('/').at(-1) ?? '');
    if (call.method === 'POST')
      trained.set(id, {
        ...readObject(JSON.parse(call.body), 'body'),
        id,
        object: 'fine_tuning.job',
        status: 'queued',
      });
    return json(trained.get(id) ?? { error: { message: 'not found' } }, trained.has(id) ? 200 : 404)(response, call);
  };
  const create = (path: string, body: object): Promise<Answer> =>
    fleet.client().post(path, body, { 'x-gateway-virtual-key': virtualKey });
  const train = (): Promise<Answer> =>
    create('/v1/fine_tuning/jobs', { model: 'm', training_file: 'file-1', hyperparameters: { n_epochs: EPOCHS } });
  const run = (): Promise<Answer> => create('/v1/threads/thread_1/runs', { assistant_id: 'asst_1', ...CAPS });

  beforeAll(async () => {
    fleet = await GatewayFleet.start(2, databaseServer ?? '', { PROVIDER_JOB_CHECK_MS: '100' });
    fleet.provider.replyWith((response, call) => setTimeout(() => replyTo(response, call), Math.random() * 100));
    account.assistants.set('asst_1', { id: 'asst_1', model: 'm', tools: [] });
    const config = { base_url: `${fleet.provider.url}/v1` };
    const made = await fleet
      .client()
      .create('/v1/virtual-keys', { name: 'jobs', provider: 'openai', key: 'k', config });
    virtualKey = String(made['slug']);
    for (const [unit, nano] of Object.entries(PRICE)) {
      const price = { provider: 'openai', model: 'm', unit, price: (nano / NANO).toFixed(12) };
      await fleet.client().create('/v1/prices', price);
    }
    for (const [endpoint, nano] of Object.entries(RESERVED)) {
      const conditions = [{ key: 'endpoint', value: endpoint }];
      const limit = { conditions, group_by: [{ key: 'organisation_id' }], type: 'cost' };
      await fleet.client().create(POLICIES, { ...limit, credit_limit: (JOBS * nano) / NANO });
    }
  });
  afterAll(() => fleet.close());

  it(`charges ${JOBS} fine-tuning jobs and ${JOBS} runs once each, though gateways are killed at random`, async () => {
    for (let made = 0; made < JOBS; made += 1) {
      expect((await train()).status).toBe(200);
      expect((await run()).status).toBe(200);
    }
    for (const answer of [await train(), await run()]) {
      expect(refusalOf(answer)).toMatchObject({ status: 429, code: 'usage_limit_contended' });
    }
    expect(await fleet.overshoots()).toEqual([]);

    await fleet.slowDownSettlements();
    for (const [id, job] of trained) trained.set(id, { ...job, status: 'succeeded', trained_tokens: 500 });
    const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
    for (const id of account.runs.keys()) account.change(id, { status: 'completed', usage });
    await fleet.killWhileJobsAreSettled();

    const rows = await fleet.books.getRepository(UsageEvent).find();
    const charged = rows.map(({ endpoint, costNano, source }) => `${endpoint} ${costNano} ${source}`);
    const expected = Object.entries(USED).flatMap(([endpoint, nano]) =>
      Array.from({ length: JOBS }, () => `${endpoint} ${nano} provider`),
    );
    expect(charged.toSorted()).toEqual(expected);
    expect(await fleet.atRest()).toEqual([]);
    const buckets = await fleet.books.getRepository(UsageBucket).find();
    const used = Object.values(USED).map((nano) => String(JOBS * nano));
    expect(buckets.map((bucket) => bucket.used).toSorted()).toEqual(used.toSorted());
    expect([...(await usageDrift(fleet.books)), ...(await rollupDrift(fleet.books))]).toEqual([]);
  });
});
