import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, ORGANISATION, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { usageDrift } from './drift.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import type { Charge } from './usage-store.types.js';

let dataSource: TollgateDataSource;
let charge: Charge;

beforeAll(async () => {
  dataSource = await openDataSource();
});

afterAll(() => dataSource.destroy());

beforeEach(async () => {
  await emptyUsage(dataSource);
  charge = chargeOf();
  const store = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER);
  for (const at of [new Date(), new Date()]) {
    const reservation = reservationOf([charge, chargeOf()], { at });
    await store.reserve(reservation);
    await store.settle(settlementOf(reservation));
  }
  await store.reset(charge, { organisationId: ORGANISATION, actorId: 'admin-1', reason: 'goodwill', at: new Date() });
  await store.close();
});

const anHourAgo = (): Date => new Date(Date.now() - 3_600_000);
const set = (used: number): Promise<unknown> =>
  dataSource.query('UPDATE usage_buckets SET used = $2 WHERE policy_id = $1', [charge.policyId, used]);

it('reports no drift when counters equal the sum of ledger and adjustments', async () => {
  expect(await usageDrift(dataSource)).toEqual([]);
  expect(await usageDrift(dataSource, anHourAgo())).toEqual([]);
});

it.each([
  [7, 7n],
  [-3, -3n],
])('reports a counter of %s instead of 0', async (used, drift) => {
  await set(used);
  const expected = [expect.objectContaining({ policyId: charge.policyId, windowId: charge.windowId, drift })];
  expect(await usageDrift(dataSource)).toEqual(expected);
  expect(await usageDrift(dataSource, anHourAgo())).toEqual(expected);
});

it('reports a missing row of the ledger', async () => {
  await dataSource.query('DELETE FROM usage_events WHERE ctid = (SELECT min(ctid) FROM usage_events)');
  expect(await usageDrift(dataSource)).toHaveLength(2);
});

it('ignores buckets that were not changed since', async () => {
  await set(7);
  expect(await usageDrift(dataSource, new Date(Date.now() + 3_600_000))).toEqual([]);
});
