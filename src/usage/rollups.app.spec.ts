import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import { TestClock } from '../../test/support/test-clock.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, reservationOf, settledAs } from './__fixtures__/usage.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { SUM_COLUMNS } from './rollup-columns.js';
import { rollupDrift } from './rollup-drift.js';
import type { Charge, Reservation, UsageFigures } from './usage-store.types.js';

const START = Date.UTC(2026, 10, 20);
const HOUR = 3_600_000;
const ALL = 1_000_000;

let dataSource: TollgateDataSource;
let store: PostgresUsageStore;

beforeAll(async () => {
  dataSource = await openDataSource();
});
beforeEach(async () => {
  await emptyUsage(dataSource);
  store = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER, { maxBatch: 20 });
});
afterAll(() => dataSource.destroy());

const pick = <T>(...values: readonly [T, ...T[]]): T => values[randomInt(values.length)] ?? values[0];

function randomFigures(): UsageFigures {
  const quantities = pick<UsageFigures['quantities']>(
    {},
    { input: BigInt(randomInt(1_000)), output: BigInt(randomInt(1_000)) },
    { search_unit: 1n },
    { input: 0n, cache_read: BigInt(randomInt(1_000)), image: 2n },
  );
  return { costNano: BigInt(randomInt(1_000_000)), quantities };
}

function randomCall(charges: readonly Charge[]): Reservation {
  const plain = reservationOf(charges).dimensions;
  return reservationOf(charges, {
    at: new Date(START + randomInt(3 * 24 * HOUR)),
    bound: randomFigures(),
    dimensions: {
      ...plain,
      workspaceId: pick(plain.workspaceId, null),
      apiKeyId: pick(plain.apiKeyId, null, 'key-2'),
      virtualKey: pick('a', 'b', null),
      model: pick('model', 'Model', 'null', null),
      mcpTool: pick(null, '', 'tool'),
    },
  });
}

/** One call from its beginning to its end, whatever that may be. */
async function run(charges: readonly Charge[]): Promise<void> {
  const reservation = randomCall(charges);
  const settled = { reservation, ...settledAs(randomFigures(), { outcome: pick('answered', 'failed') }) };
  const presumed = { ...settled, ...settledAs(randomFigures(), { source: 'presumed', outcome: 'unknown' }) };
  const { id, at, dimensions } = reservation;
  switch (pick('record', 'settle', 'lost', 'release', 'corrected', 'taken back', 'twice')) {
    case 'record':
      return store.record({ id, at, dimensions, ...settledAs(randomFigures()) });
    case 'settle':
      await store.reserve(reservation);
      return store.settle(settled);
    case 'lost':
      return store.settle(settled);
    case 'release':
      await store.reserve(reservation);
      return store.release(id, at);
    case 'corrected':
      await store.reserve(reservation);
      await store.settle(presumed);
      return store.settle(settled);
    case 'taken back':
      await store.reserve(reservation);
      await store.settle(presumed);
      return store.release(id, at);
    case 'twice':
      await store.reserve(reservation);
      await store.settle(settled);
      return store.settle(settled);
  }
}

const fold = async (max = ALL): Promise<number> => {
  const [row] = await dataSource.query('SELECT usage_fold_rollups($1) AS folded', [max]);
  return Number(row.folded);
};

const sumsIn = async (hours: number): Promise<Readonly<Record<string, string>>> => {
  const [sums] = await dataSource.query(
    `SELECT ${SUM_COLUMNS.map((column) => `COALESCE(sum(${column}), 0) AS ${column}`).join(', ')}
     FROM usage_rollups WHERE hours = $1`,
    [hours],
  );
  return sums;
};

describe('the sums of the ledger', () => {
  it('equal the ledger for every group and hour, however calls end and whatever is folded when', async () => {
    const charges = [chargeOf({ limit: 10n ** 15n }), chargeOf({ unit: 'tokens', limit: 10n ** 15n })];
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 40 }, () => run(pick(charges, []))));
      expect(await rollupDrift(dataSource)).toEqual([]);
      await fold(randomInt(60));
      expect(await rollupDrift(dataSource)).toEqual([]);
    }
    await store.close();
    await fold();
    expect(await rollupDrift(dataSource)).toEqual([]);
    const [ledger] = await dataSource.query(
      'SELECT count(*) AS calls, sum(cost_nano) AS cost_nano, sum(tokens) AS tokens FROM usage_events',
    );
    expect(Number(ledger.calls)).toBeGreaterThan(100);
    expect(await sumsIn(1)).toMatchObject(ledger);
    expect(await sumsIn(24)).toEqual(await sumsIn(1));
  });

  it('keep what they counted when a month of the ledger is dropped', async () => {
    const at = new Date('2025-03-05T10:00:00Z');
    await dataSource.query('SELECT usage_make_partitions($1, 0)', [at]);
    store.record({ ...reservationOf([]), at, ...settledAs(randomFigures()) });
    await store.close();
    await fold();
    const before = await sumsIn(24);
    expect(before).toMatchObject({ calls: '1' });
    await dataSource.query('SELECT usage_drop_partition($1)', [new Date('2025-04-02T00:00:00Z')]);
    expect(await dataSource.query('SELECT FROM usage_events')).toEqual([]);
    expect(await sumsIn(24)).toEqual(before);
  });

  it('are not counted again when rows move into the partition of their month', async () => {
    store.record({ ...reservationOf([]), at: new Date('2024-03-05T10:00:00Z'), ...settledAs(randomFigures()) });
    await store.close();
    await dataSource.query('SELECT usage_make_partitions($1, 0)', ['2024-03-05T10:00:00Z']);
    expect(await rollupDrift(dataSource)).toEqual([]);
    await dataSource.query('DROP TABLE usage_events_2024_03');
  });

  it('fold the notes of other groups when the sum of one is more than a counter holds', async () => {
    const figures = { costNano: 10n ** 15n, quantities: { input: 10n ** 15n } };
    store.record({ ...reservationOf([]), ...settledAs(figures) });
    await store.close();
    await dataSource.query('UPDATE usage_rollup_changes SET tokens = 8999999999999999999, q_input = tokens');
    await fold();
    await dataSource.query('DELETE FROM usage_rollup_changes');
    const again = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER);
    again.record({ ...reservationOf([]), id: randomUUID(), ...settledAs(figures) });
    await again.close();
    expect(await fold()).toBe(1);
    expect(await sumsIn(24)).toMatchObject({
      calls: '2',
      tokens: '9000000000000000000',
      cost_nano: String(2n * 10n ** 15n),
    });
  });
});

describe('the comparison of sums and ledger', () => {
  beforeEach(async () => {
    store.record({ ...reservationOf([]), at: new Date(START), ...settledAs(randomFigures()) });
    await store.flush();
    await fold();
    store.record({ ...reservationOf([]), at: new Date(START + HOUR), ...settledAs(randomFigures()) });
    await store.close();
  });

  it.each([
    ['a note that is missing', 'DELETE FROM usage_rollup_changes'],
    ['a note that is there twice', 'INSERT INTO usage_rollup_changes SELECT * FROM usage_rollup_changes'],
    ['a nano-dollar too much', 'UPDATE usage_rollup_changes SET cost_nano = cost_nano + 1'],
    ["a group that is not the call's", `UPDATE usage_rollup_changes SET model = 'other'`],
  ])('finds %s', async (_what, change) => {
    expect(await rollupDrift(dataSource)).toEqual([]);
    await dataSource.query(change);
    expect(await rollupDrift(dataSource)).not.toEqual([]);
    expect(await rollupDrift(dataSource, new Date(START + HOUR))).not.toEqual([]);
    expect(await rollupDrift(dataSource, new Date(START + 2 * HOUR))).toEqual([]);
  });

  it('finds a day that differs from its hours', async () => {
    await fold();
    await dataSource.query('UPDATE usage_rollups SET calls = calls + 1 WHERE hours = 24');
    expect(await rollupDrift(dataSource)).toEqual([
      expect.objectContaining({ hours: 24, start: new Date(START), calls: -1n }),
    ]);
  });
});
