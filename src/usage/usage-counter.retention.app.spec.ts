import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { AppConfig } from '../config/environment.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, cost, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { usageDrift } from './drift.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { UsageCounterRetention } from './usage-counter.retention.js';
import type { Charge } from './usage-store.types.js';

const DAY = 86_400_000;
const KEPT_DAYS = new AppConfig().USAGE_COUNTER_DAYS;

let dataSource: TollgateDataSource;
let clock: TestClock;
let store: PostgresUsageStore;
let retention: UsageCounterRetention;
let warnings: unknown[];

beforeAll(async () => {
  dataSource = await openDataSource();
});
beforeEach(async () => {
  await emptyUsage(dataSource);
  clock = new TestClock();
  store = new PostgresUsageStore(dataSource, clock, NO_OBSERVER);
  warnings = [];
  retention = retentionOn(dataSource);
});
afterAll(() => dataSource.destroy());

function retentionOn(source: ConstructorParameters<typeof UsageCounterRetention>[0]): UsageCounterRetention {
  return new UsageCounterRetention(source, new AppConfig(), clock, { warn: (line: unknown) => warnings.push(line) });
}

/** A bucket whose window ended so many days ago, with a call that reached its limit. */
async function exhaust(endedDaysAgo: number | undefined): Promise<Charge> {
  const ended = endedDaysAgo === undefined ? undefined : new Date(clock.now().getTime() - endedDaysAgo * DAY);
  const charge = chargeOf({ windowId: randomUUID().slice(0, 16), resetsAt: ended, threshold: 50n });
  const reservation = reservationOf([charge], { at: clock.now(), bound: cost(100n) });
  await store.reserve(reservation);
  await store.settle(settlementOf(reservation));
  await dataSource.query(`UPDATE webhook_outbox SET dispatched_at = $1`, [new Date(clock.now().getTime() - 400 * DAY)]);
  return charge;
}

async function policiesLeft(): Promise<ReadonlySet<unknown>> {
  const rows: readonly { readonly policy_id: unknown }[] = await dataSource.query(
    'SELECT policy_id FROM usage_buckets',
  );
  return new Set(rows.map(({ policy_id }) => policy_id));
}

/** The policies of alerts, and whether these still have their key. */
async function keyed(): Promise<ReadonlySet<unknown>> {
  const rows: readonly { readonly policy: string }[] = await dataSource.query(
    `SELECT payload ->> 'policy_id' AS policy FROM webhook_outbox WHERE dedupe_key IS NOT NULL`,
  );
  return new Set(rows.map(({ policy }) => policy));
}

/** Counts the rows that a statement reads by an index. On a table as small as a test's, the planner might read all. */
async function counted<Result>(read: number[], sql: string, parameters: unknown): Promise<Result> {
  const runner = dataSource.createQueryRunner();
  const soFar = async (): Promise<number> => {
    const [row]: readonly { readonly rows: number }[] = await runner.query(
      `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
       WHERE relname = 'webhook_outbox'`,
    );
    return row?.rows ?? 0;
  };
  try {
    await runner.startTransaction();
    await runner.query('SET LOCAL enable_seqscan = off');
    const before = await soFar();
    const result = await runner.manager.query<Result>(sql, Array.isArray(parameters) ? parameters : []);
    read.push((await soFar()) - before);
    await runner.commitTransaction();
    return result;
  } finally {
    await runner.release();
  }
}

describe('retention of counters', () => {
  it('deletes only buckets of windows that ended long ago', async () => {
    const old = await exhaust(KEPT_DAYS + 1);
    const recent = await exhaust(KEPT_DAYS - 1);
    const open = await exhaust(-1);
    const cumulative = await exhaust(undefined);
    const kept = new Set([recent, open, cumulative].map(({ policyId }) => policyId));
    await retention.sweep();
    expect(await policiesLeft()).toEqual(kept);
    expect(kept.has(old.policyId)).toBe(false);
    expect(await usageDrift(dataSource)).toEqual([]);
    const [events] = await dataSource.query('SELECT count(*)::integer AS count FROM usage_events');
    expect(events).toEqual({ count: 4 });
    expect(warnings).toEqual([]);
  });

  it('keeps a bucket with a reservation until its call has ended', async () => {
    const charge = chargeOf({ resetsAt: new Date(clock.now().getTime() - (KEPT_DAYS + 1) * DAY) });
    const reservation = reservationOf([charge], { at: clock.now() });
    await store.reserve(reservation);
    await retention.sweep();
    expect(await policiesLeft()).toEqual(new Set([charge.policyId]));
    await store.settle(settlementOf(reservation));
    await retention.sweep();
    expect(await policiesLeft()).toEqual(new Set());
  });

  it('releases the keys of dispatched alerts whose bucket is deleted', async () => {
    await exhaust(KEPT_DAYS + 1);
    const cumulative = await exhaust(undefined);
    const undispatched = await exhaust(KEPT_DAYS + 1);
    await dataSource.query(`UPDATE webhook_outbox SET dispatched_at = NULL WHERE payload ->> 'policy_id' = $1`, [
      undispatched.policyId,
    ]);
    await retention.sweep();
    expect(await keyed()).toEqual(new Set([cumulative.policyId, undispatched.policyId]));
    const [row] = await dataSource.query('SELECT count(*)::integer AS count FROM webhook_outbox');
    expect(row).toEqual({ count: 6 });
  });

  it('reads a fixed number of keys per statement, however many are kept, and finds later ones', async () => {
    const KEPT = 3_500;
    await exhaust(KEPT_DAYS + 1);
    await dataSource.query(`UPDATE webhook_outbox SET dedupe_key = 'usage:~' || dedupe_key`);
    const { policyId } = await exhaust(undefined);
    await dataSource.query(
      `INSERT INTO webhook_outbox (organisation_id, type, dedupe_key, payload, dispatched_at)
       SELECT organisation_id, type, 'usage:0' || n, payload, dispatched_at
       FROM (SELECT * FROM webhook_outbox WHERE payload ->> 'policy_id' = $1 LIMIT 1) AS event, generate_series(1, $2::integer) AS n`,
      [policyId, KEPT],
    );
    await dataSource.query('ANALYZE webhook_outbox');
    const read: number[] = [];
    await retentionOn({ query: (sql, parameters) => counted(read, sql, parameters) }).sweep();
    expect(warnings).toEqual([]);
    expect(await keyed()).toEqual(new Set([policyId]));
    expect(read.length).toBeGreaterThan(KEPT / 1_000);
    // Each key of a page is read once, and once more when it is changed.
    expect(Math.max(...read)).toBeLessThanOrEqual(2_000);
  });

  it('deletes buckets in batches until none is left', async () => {
    await dataSource.query(
      `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit,
         credit_limit, resets_at)
       SELECT $1, lpad(n::text, 22, '0'), '2020-01', gen_random_uuid(), n, $1, 'x', 'cost', 1, '2020-02-01Z'
       FROM generate_series(1, 2500) AS n`,
      [randomUUID()],
    );
    await retention.sweep();
    expect(await policiesLeft()).toEqual(new Set());
  });

  it('stops after the batch in progress when the gateway stops', async () => {
    let statements = 0;
    const endless = retentionOn({
      query: async <Result>(): Promise<Result> => {
        statements += 1;
        if (statements === 3) stopped = endless.beforeApplicationShutdown();
        if (statements > 10) throw new Error('it goes on');
        return JSON.parse('[[], 1000]');
      },
    });
    let stopped: Promise<void> | undefined;
    await endless.sweep();
    await stopped;
    expect(statements).toBe(3);
    expect(warnings).toEqual([]);
  });

  it('logs a failure of the retention, and tries again', async () => {
    let failures = 1;
    const flaky = retentionOn({
      query: async (sql: string, parameters?: unknown[]) => {
        if (failures-- > 0) throw new Error('away');
        return dataSource.query(sql, parameters);
      },
    });
    await exhaust(KEPT_DAYS + 1);
    await flaky.sweep();
    expect(warnings).toEqual([expect.objectContaining({ event: 'usage_retention_failed' })]);
    expect((await policiesLeft()).size).toBe(1);
    await flaky.sweep();
    expect(await policiesLeft()).toEqual(new Set());
  });
});
