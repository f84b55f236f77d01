import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { UsageDriftMonitor } from '../src/usage/usage-drift.monitor.js';
import { UsageHousekeepingService } from '../src/usage/usage-housekeeping.service.js';
import { eventually } from './support/eventually.js';
import { silence } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { COST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const SEARCH_UNITS = 'gateway_usage_quantities_total{provider="cohere",unit="search_unit"}';

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway({ USAGE_LEASE_MARGIN_MS: '30000' });
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

async function metric(name: string): Promise<number> {
  const { text } = await gateway.admin.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

it('counts decisions and batches of usage limits', async () => {
  const decided = (result: string): Promise<number> => metric(`gateway_limit_decisions_total{result="${result}"}`);
  const [admitted, exceeded] = [await decided('admit'), await decided('exceeded')];
  await gateway.limit({ credit_limit: COST });
  await gateway.call();
  await gateway.books.ledger(1);
  await gateway.call();
  expect([await decided('admit'), await decided('exceeded')]).toEqual([admitted + 1, exceeded + 1]);
  expect(await metric('gateway_limit_batch_size_count')).toBeGreaterThan(0);
  expect(await metric('gateway_limit_batch_seconds_count')).toBeGreaterThan(0);
  expect(await metric('gateway_usage_dropped_total')).toBe(0);
});

it('counts and logs what a provider reports above the bound', async () => {
  const above = (result: string): Promise<number> =>
    metric(`gateway_usage_above_bound_total{provider="cohere",result="${result}"}`);
  for (const [result, searchUnits] of [
    ['reported', 4],
    ['capped', 5],
  ] as const) {
    const before = await above(result);
    gateway.provider.replyWith(scored(searchUnits));
    const charged = await metric(SEARCH_UNITS);
    await gateway.call({ headers: { 'x-gateway-trace-id': `above-${result}` } });
    expect(await metric(SEARCH_UNITS)).toBe(charged + (result === 'reported' ? 4 : 1));
    expect(await above(result)).toBe(before + 1);
    expect(await requestLine(gateway.app, `above-${result}`)).toMatchObject({ usage_above_bound: result });
  }
});

it('reports an open reservation and charges it a margin after the deadline of its call', async () => {
  const housekeeping = gateway.app.app.get(UsageHousekeepingService, { strict: false });
  const before = await metric('gateway_reservations_reaped_total');
  await gateway.limit({ credit_limit: 1 });
  gateway.provider.replyWith(silence);
  const leaving = new AbortController();
  const answer = gateway.call({ signal: leaving.signal }).catch(() => undefined);
  await eventually(async () => (await gateway.books.open()) === 1);
  await housekeeping.tidy();
  expect(await metric('gateway_reservations_open')).toBe(1);
  // 30 seconds for the call, and as many after its deadline.
  gateway.app.clock.advance(45_000);
  await housekeeping.tidy();
  expect(await gateway.books.open()).toBe(1);
  gateway.app.clock.advance(16_000);
  await housekeeping.tidy();
  expect(await metric('gateway_reservations_reaped_total')).toBe(before + 1);
  expect(await gateway.books.ledger(1)).toEqual([expect.objectContaining({ source: 'presumed' })]);
  // The call was alive after all, and ends: the ledger has it once.
  leaving.abort();
  await answer;
  gateway.provider.replyWith(scored());
  await gateway.call();
  expect(await gateway.books.ledger(2)).toHaveLength(2);
  expect(await gateway.books.faults()).toEqual([]);
});

it('counts a failed comparison with the ledger and keeps the other metrics', async () => {
  const monitor = gateway.app.app.get(UsageDriftMonitor, { strict: false });
  const failures = (): Promise<number> => metric('gateway_usage_drift_check_failures_total');
  await monitor.check();
  expect(await failures()).toBe(0);
  const timeout = new Error('Query read timeout');
  jest.spyOn(gateway.app.dataSource, 'query').mockRejectedValueOnce(timeout);
  await monitor.check();
  expect(await failures()).toBe(1);
  expect(await metric('gateway_usage_drift_nano')).toBe(0);
  expect(gateway.app.log()).toContain('"event":"usage_drift_check_failed"');
  await monitor.check();
  expect(await failures()).toBe(1);
});

it('reports counters that differ from the ledger', async () => {
  const monitor = gateway.app.app.get(UsageDriftMonitor, { strict: false });
  await gateway.limit({ credit_limit: 1 });
  await gateway.call();
  await gateway.books.ledger(1);
  await monitor.check();
  expect(await metric('gateway_usage_drift_nano')).toBe(0);
  await gateway.app.dataSource.query('UPDATE usage_buckets SET used = used + 5');
  await monitor.check();
  expect(await metric('gateway_usage_drift_nano')).toBe(5);
  expect(gateway.app.log()).toContain('"event":"usage_drift"');
});

it('reports in one line that thousands of counters differ from the ledger', async () => {
  const monitor = gateway.app.app.get(UsageDriftMonitor, { strict: false });
  await gateway.app.dataSource.query(
    `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, used, credit_limit)
     SELECT gen_random_uuid(), n::text, 'cum', gen_random_uuid(), 1, id, '', 'tokens', 2, 9 FROM organisations, generate_series(1, 3000) n`,
  );
  const before = gateway.app.log().length;
  await monitor.check();
  const line = /.*"usage_drift".*/g.exec(gateway.app.log().slice(before))?.[0] ?? '';
  expect(line).toContain('"buckets":3000,"drift":"6000"');
  expect(gateway.app.log().length - before).toBeLessThan(10_000);
});

it('reports sums that differ from the ledger', async () => {
  const monitor = gateway.app.app.get(UsageDriftMonitor, { strict: false });
  await gateway.limit({ credit_limit: 1 });
  await gateway.call();
  await gateway.books.ledger(1);
  await monitor.check();
  expect(await metric('gateway_usage_rollup_drift')).toBe(0);
  await gateway.app.app.get(UsageHousekeepingService, { strict: false }).tidy();
  await monitor.check();
  expect(await metric('gateway_usage_rollup_drift')).toBe(0);
  await gateway.app.dataSource.query('UPDATE usage_rollups SET cost_nano = cost_nano + 1 WHERE hours = 1');
  await monitor.check();
  expect(await metric('gateway_usage_rollup_drift')).toBeGreaterThan(0);
  expect(gateway.app.log()).toContain('"event":"usage_rollup_drift"');
});

it('compares counters once a day where that reads more than a million calls', async () => {
  const monitor = gateway.app.app.get(UsageDriftMonitor, { strict: false });
  const use = (more: number): Promise<unknown> =>
    gateway.app.dataSource.query('UPDATE usage_buckets SET used = used + $1, updated_at = $2', [
      more,
      gateway.app.clock.now(),
    ]);
  await gateway.limit({ credit_limit: 1 });
  await gateway.call();
  await gateway.books.ledger(1);
  await gateway.app.app.get(UsageHousekeepingService, { strict: false }).tidy();
  await gateway.app.dataSource.query('UPDATE usage_rollups SET calls = 1000001 WHERE hours = 24');
  const seen: number[] = [];
  for (const [more, hours] of [
    [5, 0],
    [7, 0],
    [0, 23],
    [0, 2],
  ] as const) {
    gateway.app.clock.advance(hours * 3_600_000);
    await use(more);
    await monitor.check();
    seen.push(await metric('gateway_usage_drift_nano'));
  }
  expect(seen).toEqual([5, 5, 5, 12]);
});
