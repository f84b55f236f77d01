import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { usageDrift } from '../src/usage/drift.js';
import { rollupDrift } from '../src/usage/rollup-drift.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { UsageReservation } from '../src/usage/usage-reservation.entity.js';
import { eventually } from './support/eventually.js';
import { json } from './support/fake-provider.js';
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
  expect(await rollupDrift(dataSource)).toEqual([]);
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
    try {
      // At once, since what is known of a key is used for five seconds only.
      const [free] = await Promise.all([freely(), refusedInTime()]);
      expect(free).toBe(200);
    } finally {
      wire.silence('open');
    }
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

describe('a database that is away for longer than keys are cached', () => {
  /** Keys and virtual keys are read again after five seconds. */
  const CACHED_MS = 5_500;
  let lenient: UsageGateway;
  let lenientWire: Wire;
  const callFreely = async (on: UsageGateway, virtualKey: string): Promise<unknown> => {
    on.provider.replyWith(json({ data: [], usage: { total_tokens: 4 } }));
    const answer = await on.rerank(virtualKey, { ...REQUEST, model: 'rerank-2.5' });
    return answer.status === 200 ? 200 : refusalOf(answer);
  };

  afterAll(async () => {
    await lenient.close();
    await lenientWire.cut();
  });

  it('refuses calls without limits, too, and serves them again when it is back', async () => {
    await wire.cut();
    await new Promise((done) => setTimeout(done, CACHED_MS));
    expect(await callFreely(gateway, free)).toEqual(UNAVAILABLE);
    await mend();
    await eventually(async () => (await callFreely(gateway, free)) === 200, 20_000);
  });

  // Last, since it empties the database that the other gateway uses.
  it('lets calls of known keys without limits go on with DATABASE_OUTAGE_GRACE_SECONDS', async () => {
    const { url } = await testDatabase();
    lenientWire = new Wire(dial(url));
    const lenientPort = await lenientWire.listen();
    const settings = { DATABASE_URL: through(url, lenientPort), DATABASE_OUTAGE_GRACE_SECONDS: '60' };
    lenient = await startUsageGateway(settings);
    const [known, unused] = [await lenient.virtualKey('voyage'), await lenient.virtualKey('voyage')];
    await lenient.limit({ credit_limit: 1, conditions: [{ key: 'virtual_key', value: lenient.cohere }] });
    expect(await callFreely(lenient, known)).toBe(200);
    lenient.provider.replyWith(scored());
    expect((await lenient.call()).status).toBe(200);

    await lenientWire.cut();
    await new Promise((done) => setTimeout(done, CACHED_MS));
    for (let time = 0; time < 3; time += 1) expect(await callFreely(lenient, known)).toBe(200);
    // Limits need the database, and so does a virtual key that was not used before.
    expect(refusalOf(await lenient.call())).toEqual(UNAVAILABLE);
    expect(await callFreely(lenient, unused)).toEqual(UNAVAILABLE);
  });
});
