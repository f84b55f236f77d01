import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { onServer } from '../../test/support/services.js';
import { testDatabase } from '../../test/support/test-database.js';
import { eventually } from '../../test/support/eventually.js';
import { settledWithin } from '../common/time/timeout.js';
import { LongStatement } from '../database/long-statement.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, cost, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { usageDrift } from './drift.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { UsageLedgerRetention } from './usage-ledger.retention.js';
import type { Charge } from './usage-store.types.js';

/** As old as the last time at which all of June can be dropped. */
const DAYS = 92;
const clock = Object.assign(new Clock(), { now: () => new Date('2026-10-01T00:00:00Z') });

let dataSource: TollgateDataSource;
let store: PostgresUsageStore;
let lines: unknown[];

beforeAll(async () => {
  dataSource = await openDataSource();
});
beforeEach(async () => {
  await emptyUsage(dataSource);
  store = new PostgresUsageStore(dataSource, clock, NO_OBSERVER);
  lines = [];
  for (const month of ['2026-05-01Z', '2026-06-01Z', '2026-07-01Z'])
    await dataSource.query('SELECT usage_make_partitions($1, 0)', [new Date(month)]);
});
afterAll(async () => {
  await dataSource.query('DROP TABLE IF EXISTS usage_events_2026_05, usage_events_2026_06, usage_events_2026_07');
  await dataSource.destroy();
});

type Statement = ConstructorParameters<typeof UsageLedgerRetention>[0];

const onPool = (): LongStatement => new LongStatement(dataSource, new AppConfig());

function retention(days: number | undefined, statement: Statement = onPool()): UsageLedgerRetention {
  const config = Object.assign(new AppConfig(), { USAGE_LEDGER_DAYS: days });
  const note = (line: unknown): unknown => lines.push(line);
  return new UsageLedgerRetention(statement, dataSource, config, clock, { info: note, warn: note });
}

function sweep(days: number | undefined, statement?: Statement): Promise<void> {
  return retention(days, statement).sweep();
}

async function spendAt(at: string, amount: bigint, charge: Charge): Promise<void> {
  const reservation = reservationOf([charge], { at: new Date(at), bound: cost(amount) });
  await store.reserve(reservation);
  await store.settle(settlementOf(reservation));
}

async function months(): Promise<readonly string[]> {
  const rows: readonly { readonly month: string }[] = await dataSource.query(
    `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM usage_events ORDER BY at`,
  );
  return rows.map(({ month }) => month);
}

const charge = (): Charge => chargeOf({ limit: 1_000n, windowId: 'all', resetsAt: undefined });

describe('retention of the ledger', () => {
  it('drops months that are wholly older than the setting, oldest first, and logs each', async () => {
    const cumulative = charge();
    for (const at of ['2026-05-31T23:59:59Z', '2026-06-01T00:00:00Z', '2026-06-30T23:59:59Z', '2026-07-01T00:00:00Z'])
      await spendAt(at, 10n, cumulative);
    await sweep(DAYS);
    expect(await months()).toEqual(['2026-07']);
    expect(lines).toEqual([
      { event: 'usage_ledger_dropped', partition: 'usage_events_2026_05' },
      { event: 'usage_ledger_dropped', partition: 'usage_events_2026_06' },
    ]);
  });

  it('keeps a month of which one instant is not old enough', async () => {
    await spendAt('2026-06-01T00:00:00Z', 10n, charge());
    await sweep(DAYS + 1);
    expect(await months()).toEqual(['2026-06']);
  });

  it('leaves counters as they are, by an adjustment for each, so that no limit grows', async () => {
    const [spent, unused] = [charge(), charge()];
    await spendAt('2026-06-10T00:00:00Z', 700n, spent);
    await spendAt('2026-07-10T00:00:00Z', 200n, spent);
    await spendAt('2026-07-10T00:00:00Z', 5n, unused);
    await sweep(DAYS);
    expect(await usageDrift(dataSource)).toEqual([]);
    expect(await dataSource.query('SELECT delta, actor_id, reason FROM usage_adjustments')).toEqual([
      { delta: '700', actor_id: 'gateway', reason: 'deleted from the ledger: usage_events_2026_06' },
    ]);
    expect((await store.reserve(reservationOf([spent], { bound: cost(101n) }))).kind).toBe('exceeded');
    expect((await store.reserve(reservationOf([spent], { bound: cost(100n) }))).kind).toBe('admitted');
  });

  it('drops nothing without the setting', async () => {
    await spendAt('2026-05-10T00:00:00Z', 10n, charge());
    await sweep(undefined);
    expect(await months()).toEqual(['2026-05']);
    expect(lines).toEqual([]);
  });

  it('logs a failure, and drops nothing by halves', async () => {
    await spendAt('2026-05-10T00:00:00Z', 10n, charge());
    await sweep(DAYS, {
      query: async () => {
        throw new Error('away');
      },
    });
    expect(lines).toEqual([expect.objectContaining({ event: 'usage_ledger_retention_failed' })]);
    expect(await months()).toEqual(['2026-05']);
  });
});

onServer('retention of a month that takes long to add up', () => {
  /** Statements of the gateway end after 4.5 seconds. */
  const LONG_S = 6;

  async function onItsOwn(): Promise<LongStatement> {
    const { url } = await testDatabase();
    return new LongStatement(dataSource, Object.assign(new AppConfig(), { DATABASE_URL: url }));
  }

  const running = async (): Promise<number> => {
    const rows: readonly unknown[] = await dataSource.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT usage_drop_partition(%' AND state = 'active'`,
    );
    return rows.length;
  };

  beforeEach(async () => {
    await spendAt('2026-05-10T00:00:00Z', 10n, charge());
    // Runs for each row that is added up.
    await dataSource.query(
      `CREATE FUNCTION slow_adjustment() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${LONG_S}); RETURN NEW; END $$`,
    );
    await dataSource.query(
      'CREATE TRIGGER slow_adjustment BEFORE INSERT ON usage_adjustments FOR EACH ROW EXECUTE FUNCTION slow_adjustment()',
    );
  });
  afterEach(() => dataSource.query('DROP FUNCTION slow_adjustment CASCADE'));

  it('drops it, while another replica that comes to it does nothing', async () => {
    const swept = sweep(DAYS, await onItsOwn());
    await eventually(async () => (await running()) === 1);
    await sweep(DAYS, await onItsOwn());
    expect(lines).toEqual([]);
    await swept;
    expect(lines).toContainEqual({ event: 'usage_ledger_dropped', partition: 'usage_events_2026_05' });
    expect([await months(), await usageDrift(dataSource)]).toEqual([[], []]);
  });

  it.each([
    ['it runs', async () => eventually(async () => (await running()) === 1)],
    ['it has not begun', async () => undefined],
  ])('ends at once when the gateway stops while %s, and keeps the month', async (_when, begun) => {
    const own = retention(DAYS, await onItsOwn());
    const swept = own.sweep();
    await begun();
    expect(await settledWithin(2_000, Promise.all([own.beforeApplicationShutdown(), swept]))).toBe(true);
    expect(lines).toEqual([expect.objectContaining({ event: 'usage_ledger_retention_failed' })]);
    expect(await months()).toEqual(['2026-05']);
  });
});
