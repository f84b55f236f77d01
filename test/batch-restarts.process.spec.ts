import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { usageDrift } from '../src/usage/drift.js';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { readString } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { FakeBatches } from './support/fake-batches.js';
import { GatewayFleet } from './support/gateway-fleet.js';
import { databaseServer, onServer } from './support/services.js';

const GATEWAYS = 2;
const BATCHES = 24;
const KILLS = 4;
const LINES = 50;
const CALL = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const BATCH = { endpoint: '/v1/chat/completions', completion_window: '24h', input_file_id: 'file-1' };
/** Billionths of a US dollar, of one line. */
const LINE_NANO = 10 * 1_000 + 20 * 4_000;

jest.setTimeout(300_000);

onServer(`batches of ${GATEWAYS} gateways on one PostgreSQL (needs DATABASE_URL)`, () => {
  let fleet: GatewayFleet;
  const account = new FakeBatches();

  beforeAll(async () => {
    fleet = await GatewayFleet.start(GATEWAYS, databaseServer ?? '', { PROVIDER_JOB_CHECK_MS: '200' });
  });

  afterAll(() => fleet.close());

  it(`are settled once each, to the cent, when gateways are killed ${KILLS} times`, async () => {
    const config = { base_url: `${fleet.provider.url}/v1` };
    const key = { name: 'batches', provider: 'openai-compatible', key: 'provider-key', config };
    const slug = readString((await fleet.client().create('/v1/virtual-keys', key))['slug'], 'slug');
    for (const [unit, price] of [
      ['input', '0.000001'],
      ['output', '0.000004'],
    ])
      await fleet.client().create('/v1/prices', { provider: 'openai-compatible', model: 'm', unit, price });
    const conditions = [{ key: 'endpoint', value: 'batches' }];
    await fleet.limit({ conditions, group_by: [{ key: 'organisation_id' }], credit_limit: 100 });
    account.upload('file-1', Array(LINES).fill(CALL));
    account.answer('out-1', Array(LINES).fill({ model: 'm', usage: { prompt_tokens: 10, completion_tokens: 20 } }));
    fleet.provider.replyWith(account.reply);

    const create = async (number: number): Promise<void> => {
      await fleet
        .client(number % GATEWAYS)
        .post('/v1/batches', BATCH, { 'x-gateway-virtual-key': slug })
        // Its gateway died. The batch may have been made.
        .catch(() => undefined);
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const some = Array.from({ length: BATCHES / KILLS }, (_, number) => create(number));
      await new Promise((resolve) => setTimeout(resolve, 150));
      await fleet.killOne();
      await Promise.all(some);
      for (const id of account.batches.keys()) account.finish(id, { status: 'completed', output_file_id: 'out-1' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      await fleet.killOne();
    }
    const jobs = fleet.books.getRepository(ProviderJob);
    await eventually(async () => (await jobs.find()).every(({ settledAt }) => settledAt !== null), 120_000);
    expect(await fleet.atRest()).toEqual([]);
    expect(await usageDrift(fleet.books)).toEqual([]);

    const rows = (await fleet.books.getRepository(UsageEvent).find()).filter(({ endpoint }) => endpoint === 'batches');
    const charged = rows.filter(({ costNano }) => costNano === String(LINES * LINE_NANO));
    expect(account.batches.size).toBeGreaterThan(BATCHES / 2);
    // What may have been sent, and was not, is presumed.
    expect(rows.filter((row) => !charged.includes(row)).map(({ source }) => source)).toEqual(
      Array(rows.length - charged.length).fill('presumed'),
    );
    expect(charged).toHaveLength(account.batches.size);
    const buckets = await fleet.books.getRepository(UsageBucket).find();
    const used = buckets.filter(({ valueKey }) => valueKey.startsWith('organisation_id')).map((bucket) => bucket.used);
    const sum = rows.reduce((total, { costNano }) => total + BigInt(costNano), 0n);
    expect(used).toEqual([String(sum)]);
  });
});
