import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { readString } from '../src/common/json/read.js';
import { openDataSource } from '../src/usage/__fixtures__/postgres-harness.js';
import { usageDrift } from '../src/usage/drift.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { UsageReservation } from '../src/usage/usage-reservation.entity.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, type Reply, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { GatewayProcess } from './support/gateway-process.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { send } from './support/send.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { COST, REQUEST, scored } from './support/usage-gateway.js';

const GATEWAYS = 4;
const KILLS = 10;
const CALLERS = 24;
const LEASE_MS = 2_000;
const POLICIES = '/v1/policies/usage-limits';

// Fourteen starts of a gateway, two seconds of a processor each.
jest.setTimeout(300_000);

const { DATABASE_URL: server } = process.env;
const onServer = server === undefined ? describe.skip : describe;

const slowly: Reply = (response, call) => void setTimeout(() => scored()(response, call), 5 + Math.random() * 30);

onServer(`${GATEWAYS} gateways on one PostgreSQL (needs DATABASE_URL)`, () => {
  let database: OwnDatabase;
  let books: DataSource;
  let provider: FakeProvider;
  let folder: string;
  let gateways: { readonly process: GatewayProcess; readonly url: string }[];
  let virtualKey: string;

  async function start(): Promise<(typeof gateways)[number]> {
    const settings = {
      DATABASE_URL: database.url,
      TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      EGRESS_ALLOW: '127.0.0.1',
      USAGE_LEASE_MS: String(LEASE_MS),
      LOG_LEVEL: 'error',
    };
    const process = new GatewayProcess(settings, folder);
    return { process, url: await process.url() };
  }

  /** The status; 0 when the gateway died. */
  async function call(traceId: string, from = Math.floor(Math.random() * GATEWAYS)): Promise<number> {
    const headers = {
      'content-type': 'application/json',
      'x-gateway-api-key': ADMIN_KEY,
      'x-gateway-virtual-key': virtualKey,
      'x-gateway-trace-id': traceId,
    };
    const url = `${gateways[from]?.url}/v1/rerank`;
    return send(url, { body: JSON.stringify(REQUEST), headers }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  async function atRest(): Promise<void> {
    await eventually(async () => (await books.getRepository(UsageReservation).count()) === 0, 60_000);
    expect(await usageDrift(books)).toEqual([]);
    const held = await books.getRepository(UsageBucket).find();
    expect(held.filter(({ reserved }) => reserved !== '0')).toEqual([]);
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-usage-'));
    [database, provider] = await Promise.all([makeOwnDatabase(server ?? ''), startFakeProvider()]);
    const first = await start();
    gateways = [first, ...(await Promise.all(Array.from({ length: GATEWAYS - 1 }, start)))];
    books = await openDataSource(database.url);
    const config = { base_url: provider.url };
    const key = { name: 'cohere', provider: 'cohere', key: 'provider-key', config };
    virtualKey = readString((await new GatewayClient(first.url).create('/v1/virtual-keys', key))['slug'], 'slug');
    provider.replyWith(slowly);
  });

  afterAll(async () => {
    await Promise.all(gateways.map(({ process }) => process.kill()));
    await Promise.all([books.destroy(), provider.close()]);
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function limit(fields: object): Promise<string> {
    const policy = { conditions: [{ key: 'endpoint', value: 'rerank' }], type: 'cost', ...fields };
    const { id } = await new GatewayClient(gateways[0]?.url ?? '').create(POLICIES, policy);
    // The other gateways know it when they have read the policies again.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    await Promise.all(gateways.map((_gateway, index) => call(randomUUID(), index)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    return readString(id, 'id');
  }

  it('never spend more than a limit together', async () => {
    await limit({ credit_limit: 100 * COST, group_by: [{ key: 'organisation_id' }] });
    const before = provider.calls.length;
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, index) => call(randomUUID(), index % GATEWAYS)));
    expect(new Set(statuses.filter((status) => ![200, 412, 429].includes(status)))).toEqual(new Set());
    expect(provider.calls.length - before).toBe(statuses.filter((status) => status === 200).length);
    await atRest();
    const [bucket] = await books.getRepository(UsageBucket).find();
    expect(BigInt(bucket?.used ?? 0)).toBeLessThanOrEqual(BigInt(bucket?.creditLimit ?? 0));
    const [policy] = await new GatewayClient(gateways[0]?.url ?? '').list(POLICIES);
    await new GatewayClient(gateways[0]?.url ?? '').delete(`${POLICIES}/${String(policy?.['id'])}`);
  });

  it(`lose no call when they are killed, ${KILLS} times at random`, async () => {
    await limit({ credit_limit: 1e6, group_by: [{ key: 'virtual_key' }] });
    await atRest();
    provider.forget();
    const known = new Set((await books.getRepository(UsageEvent).find()).map(({ id }) => id));

    let isOver = false;
    const caller = async (): Promise<void> => {
      while (!isOver) if ((await call(randomUUID())) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const callers = Array.from({ length: CALLERS }, caller);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 600));
      const victim = Math.floor(Math.random() * GATEWAYS);
      await gateways[victim]?.process.kill();
      gateways[victim] = await start();
    }
    isOver = true;
    await Promise.all(callers);
    await atRest();

    const rows = (await books.getRepository(UsageEvent).find()).filter(({ id }) => !known.has(id));
    const seen = provider.calls.map(({ headers }) => String(headers['traceparent']).split('-')[1] ?? '');
    const traces = rows.map(({ traceId, status }) => ({ trace: traceId.replaceAll('-', ''), status }));
    const counted = new Map<string, number>();
    for (const { trace } of traces) counted.set(trace, (counted.get(trace) ?? 0) + 1);
    expect(seen.length).toBeGreaterThan(100);
    expect(new Set(seen).size).toBe(seen.length);
    // Each that reached the provider is there once, and nothing is settled that did not.
    expect(seen.filter((trace) => counted.get(trace) !== 1)).toEqual([]);
    const reached = new Set(seen);
    expect(traces.filter(({ trace, status }) => status === 'settled' && !reached.has(trace))).toEqual([]);
    expect(traces.filter(({ trace }) => !reached.has(trace)).length).toBeLessThan(KILLS * CALLERS);
  });
});
