// Batches are charged once, to the cent, wherever gateways are killed.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { usageDrift } from '../src/usage/drift.js';
import { rollupDrift } from '../src/usage/rollup-drift.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { eventually } from './support/eventually.js';
import { FakeBatches } from './support/fake-batches.js';
import { json, type Reply, silence } from './support/fake-provider.js';
import { GatewayFleet, POLICIES } from './support/gateway-fleet.js';
import { type Answer, refusalOf } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';

const LINES = 1_000;
const BATCHES = 6;
const CALL = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
/** In billionths of a US dollar. */
const PRICE = { input: 500, output: 2_000 };
/** Of one line: its body and the frame of a conversation, and the output that it allows. */
const LINE_NANO = (JSON.stringify(CALL).length + 64) * PRICE.input + 100 * PRICE.output;
const USED_NANO = LINES * (10 * PRICE.input + 20 * PRICE.output);
const NANO = 1e9;

jest.setTimeout(90_000);

onServer('two gateways that look after batches on one PostgreSQL (needs DATABASE_URL)', () => {
  const account = new FakeBatches();
  let fleet: GatewayFleet;

  beforeAll(async () => {
    fleet = await GatewayFleet.start(2, databaseServer ?? '', { PROVIDER_JOB_CHECK_MS: '100' });
    for (const [unit, nano] of Object.entries(PRICE)) {
      const price = { provider: 'openai-compatible', model: 'm', unit, price: (nano / NANO).toFixed(12) };
      await fleet.client().create('/v1/prices', price);
    }
    account.upload('file-1', Array(LINES).fill(CALL));
    account.answer('out-1', Array(LINES).fill({ model: 'm', usage: { prompt_tokens: 10, completion_tokens: 20 } }));
    const reply: Reply = (response, call) =>
      setTimeout(() => account.reply(response, { ...call, path: `/v1${call.path}` }), Math.random() * 100);
    fleet.provider.replyWith(reply);
  });
  afterAll(() => fleet.close());

  const create = (from: number): Promise<Answer> =>
    fleet
      .client(from)
      .post(
        '/v1/batches',
        { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
        { 'x-gateway-virtual-key': 'chats-1' },
      );
  /** Asks both gateways, one of which may be dead. */
  const ask = (path: string): Promise<unknown> =>
    Promise.allSettled([0, 1].map((number) => fleet.client(number).get(path, { 'x-gateway-virtual-key': 'chats-1' })));

  it(`charges ${BATCHES} batches of ${LINES} lines once each, though gateways are killed at random`, async () => {
    const conditions = [{ key: 'endpoint', value: 'batches' }];
    const limit = { conditions, group_by: [{ key: 'organisation_id' }], type: 'cost' };
    const policy = await fleet.client().create(POLICIES, { ...limit, credit_limit: (900 * LINE_NANO) / NANO });
    expect(refusalOf(await create(0))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(account.batches.size).toBe(0);
    const fits = { credit_limit: (BATCHES * LINES * LINE_NANO) / NANO };
    expect((await fleet.client().patch(`${POLICIES}/${String(policy['id'])}`, fits)).status).toBe(200);

    for (let made = 1; made < BATCHES; made += 1) expect((await create(0)).status).toBe(200);
    // The gateway dies after the provider has made the last one, and before it answers.
    account.replyToCreate = () => silence;
    const unanswered = create(0);
    await Promise.all([
      expect(unanswered).rejects.toThrow(),
      eventually(() => account.batches.size === BATCHES).then(() => fleet.killOne(0)),
    ]);
    account.replyToCreate = (batch) => json(batch);
    expect([412, 429]).toContain((await create(0)).status);
    expect(await fleet.overshoots()).toEqual([]);

    await fleet.slowDownSettlements();
    for (const id of account.batches.keys()) account.finish(id, { status: 'completed', output_file_id: 'out-1' });
    void ask('/v1/batches?limit=100');
    await fleet.killWhileJobsAreSettled();

    const rows = await fleet.books.getRepository(UsageEvent).find();
    expect(rows.map(({ costNano, source }) => `${costNano} ${source}`)).toEqual(
      Array(BATCHES).fill(`${USED_NANO} provider`),
    );
    expect(await fleet.atRest()).toEqual([]);
    const [bucket] = await fleet.books.getRepository(UsageBucket).find();
    expect(bucket?.used).toBe(String(BATCHES * USED_NANO));
    expect([...(await usageDrift(fleet.books)), ...(await rollupDrift(fleet.books))]).toEqual([]);
  });
});
