import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { usageDrift } from '../src/usage/drift.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { UsageReservation } from '../src/usage/usage-reservation.entity.js';
import { eventually } from './support/eventually.js';
import { refusalOf } from './support/send.js';
import { testDatabase } from './support/test-database.js';
import { COST, REQUEST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';
import { dial, through, Wire } from './support/wire.js';

const UNAVAILABLE = { status: 503, code: 'store_unavailable', param: null, source: 'gateway' };
const LONGEST_MS = 2_000;

jest.setTimeout(60_000);

let gateway: UsageGateway;
let wire: Wire;
let port: number;
/** A virtual key without any policy. */
let free: string;

beforeAll(async () => {
  const { url } = await testDatabase();
  wire = new Wire(dial(url));
  port = await wire.listen();
  gateway = await startUsageGateway({ DATABASE_URL: through(url, port) });
  free = await gateway.virtualKey('voyage');
});

beforeEach(async () => {
  await gateway.reset();
  await gateway.limit({ credit_limit: 100 * COST, conditions: [{ key: 'virtual_key', value: gateway.cohere }] });
  // The data that every replica caches after its first call.
  expect((await gateway.call()).status).toBe(200);
  await freely();
});

afterAll(async () => {
  await gateway.close();
  await wire.cut();
});

async function freely(): Promise<number> {
  gateway.provider.replyWith((response, call) => {
    const body = call.path === '/v2/rerank' ? undefined : { data: [], usage: { total_tokens: 4 } };
    if (body === undefined) return scored()(response, call);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return (await gateway.rerank(free, { ...REQUEST, model: 'rerank-2.5' })).status;
}

async function refusedInTime(): Promise<void> {
  const startedAt = performance.now();
  const answer = await gateway.call();
  expect(refusalOf(answer)).toEqual(UNAVAILABLE);
  expect(performance.now() - startedAt).toBeLessThan(LONGEST_MS);
}

async function mend(): Promise<void> {
  wire = new Wire(dial((await testDatabase()).url));
  await wire.listen(port);
}

async function expectRecovered(rows: number): Promise<void> {
  await eventually(async () => (await gateway.call()).status === 200, 20_000);
  const { dataSource } = gateway.app;
  await eventually(
    async () => (await dataSource.getRepository(UsageReservation).countBy({ isWithdrawn: false })) === 0,
    20_000,
  );
  // Ledger rows of calls without a limit wait for the end of an unanswered statement.
  await eventually(async () => (await dataSource.getRepository(UsageEvent).count()) >= rows, 20_000);
  expect(await usageDrift(dataSource)).toEqual([]);
}

describe('a database that cannot be reached', () => {
  it('refuses limited calls in time during an outage, admits others and recovers', async () => {
    await wire.cut();
    const sent = gateway.provider.calls.length;
    await refusedInTime();
    await refusedInTime();
    expect(gateway.provider.calls).toHaveLength(sent);
    expect(await freely()).toBe(200);
    await mend();
    // Two from before, one during the outage, one from after it.
    await expectRecovered(4);
  });

  it('refuses limited calls in time while the database is silent', async () => {
    wire.silence('silent');
    await refusedInTime();
    expect(await freely()).toBe(200);
    wire.silence('open');
    await expectRecovered(4);
  });

  it('settles a call that was admitted before an outage when the database is back', async () => {
    let answer: () => void = () => undefined;
    gateway.provider.replyWith((response, call) => {
      answer = () => scored()(response, call);
    });
    const before = gateway.provider.calls.length;
    const running = gateway.call();
    await eventually(() => gateway.provider.calls.length === before + 1);
    await wire.cut();
    answer();
    expect((await running).status).toBe(200);
    gateway.provider.replyWith(scored());
    await mend();
    await expectRecovered(4);
    expect(await gateway.app.dataSource.getRepository(UsageEvent).countBy({ source: 'presumed' })).toBe(0);
  });
});
