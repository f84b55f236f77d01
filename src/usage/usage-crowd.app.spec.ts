import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, cost, ORGANISATION, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { usageDrift } from './drift.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { batchParameters, USAGE_BATCH } from './usage-batch.js';
import { UsageBucket } from './usage-bucket.entity.js';
import { UsageBucketStore } from './usage-bucket.store.js';
import type { Charge } from './usage-store.types.js';
import type { UsageWork } from './usage-work.js';

/** The maximum number of groups that a policy may have in one window. */
const FULL = 100_000;
const PAGE = 100;
/** Groups that one statement makes: more would take the embedded database too long. */
const AT_ONCE = 2_500;

/** Groups from one number to another: group 1 has used 1, group 2 has used 2, and so on, each with its ledger row. */
const FILL = `
  WITH bucket AS (
    INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, workspace_id, value_key,
      unit, used, credit_limit)
    SELECT $1, 'bucket-' || n, '2026-11', gen_random_uuid(), n, $2, NULL, 'metadata.user:' || n, 'cost', n, 1000000
    FROM generate_series($3::integer, $4::integer) AS n
    RETURNING id, used, organisation_id
  )
  INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
  SELECT id, organisation_id, used, 0, 'test', 'filled', now() FROM bucket`;

let dataSource: TollgateDataSource;
let store: PostgresUsageStore;
const policy = chargeOf({ policyId: randomUUID(), limit: 1_000_000n });
const group = (number: number): Charge => ({
  ...policy,
  bucketHash: `bucket-${number}`,
  valueKey: `metadata.user:${number}`,
});

beforeAll(async () => {
  dataSource = await openDataSource();
  await emptyUsage(dataSource);
  store = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER);
  // One short of full.
  for (let first = 1; first < FULL; first += AT_ONCE) {
    await dataSource.query(FILL, [policy.policyId, ORGANISATION, first, Math.min(first + AT_ONCE, FULL) - 1]);
  }
}, 120_000);

afterAll(async () => {
  await store.close();
  await dataSource.query('TRUNCATE usage_buckets, usage_adjustments');
  await emptyUsage(dataSource);
  await dataSource.destroy();
});

/** A call that costs nothing in the end. */
async function kindFor(...charges: readonly Charge[]): Promise<string> {
  const reservation = reservationOf(charges);
  const { kind } = await store.reserve(reservation);
  if (kind === 'admitted') await store.settle(settlementOf(reservation, { figures: cost(0n) }));
  return kind;
}

interface Reads {
  readonly wholeTable: number;
  readonly rows: number;
}

/** What batches read of the counters: how often the whole table, and how many rows by an index. */
async function readFor(works: readonly UsageWork[], maxBuckets = FULL): Promise<Reads> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  const soFar = async (): Promise<Reads> => {
    const [row]: readonly { readonly seq_scan: string; readonly idx_tup_fetch: string }[] = await runner.query(
      `SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'usage_buckets'`,
    );
    return { wholeTable: Number(row?.seq_scan), rows: Number(row?.idx_tup_fetch) };
  };
  try {
    // Reads from earlier statements of the connection may still be counted.
    const before = await soFar();
    for (const work of works) await runner.query(USAGE_BATCH, [...batchParameters([work], maxBuckets)]);
    const after = await soFar();
    return { wholeTable: after.wholeTable - before.wholeTable, rows: after.rows - before.rows };
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

describe(`a policy with ${FULL} groups`, () => {
  it('admits the last group that a policy may have, and refuses the next', async () => {
    const last = reservationOf([group(FULL)]);
    expect((await store.reserve(last)).kind).toBe('admitted');
    await store.settle(settlementOf(last, { figures: cost(1n) }));
    expect(await kindFor(group(FULL + 1))).toBe('crowded');
    expect(await dataSource.getRepository(UsageBucket).countBy({ policyId: policy.policyId })).toBe(FULL);
  });

  it('refuses many new groups that arrive at once', async () => {
    const kinds = await Promise.all(Array.from({ length: 200 }, (_, index) => kindFor(group(FULL + 1 + index))));
    expect(new Set(kinds)).toEqual(new Set(['crowded']));
  });

  it('keeps counting the groups that a full policy has: the first, the last and those between', async () => {
    for (const number of [1, 2, FULL / 2, FULL - 1, FULL]) expect(await kindFor(group(number))).toBe('admitted');
  });

  it('refuses a call of a known group and an unknown one together', async () => {
    expect(await kindFor(group(1), group(FULL + 1))).toBe('crowded');
  });

  it('does not block the next window, or another policy, when a policy is full', async () => {
    expect(await kindFor({ ...group(FULL + 1), windowId: '2026-12' })).toBe('admitted');
    expect(await kindFor({ ...group(FULL + 1), policyId: randomUUID() })).toBe('admitted');
  });

  it.each([
    { what: 'known', charge: group(777), statistics: 'without' },
    { what: 'new', charge: group(FULL + 1), statistics: 'without' },
    { what: 'known', charge: group(777), statistics: 'with' },
    { what: 'new', charge: group(FULL + 1), statistics: 'with' },
  ])('reads few rows of a full policy for a $what group, $statistics statistics', async ({ charge, statistics }) => {
    if (statistics === 'with') await dataSource.query('ANALYZE usage_buckets');
    const reservation = reservationOf([charge]);
    const { wholeTable, rows } = await readFor([{ kind: 'reserve', id: reservation.id, reservation }]);
    expect(wholeTable).toBe(0);
    // A handful: neither the whole policy nor a good part of it.
    expect(rows).toBeLessThan(20);
  });

  it('reads few rows to drop the group of a call that cost nothing', async () => {
    const reservation = reservationOf([group(FULL + 1)]);
    const { id } = reservation;
    const settlement = settlementOf(reservation, { figures: cost(0n) });
    const works = [
      { kind: 'reserve', id, reservation },
      { kind: 'settle', id, settlement },
    ] as const;
    const { wholeTable, rows } = await readFor(works, FULL + 1);
    expect(wholeTable).toBe(0);
    expect(rows).toBeLessThan(40);
  });

  it('keeps the counters of a full policy equal to the sum of the ledger', async () => {
    expect(await usageDrift(dataSource)).toEqual([]);
  });

  describe('lists the groups', () => {
    const window = { organisationId: ORGANISATION, policyId: policy.policyId, windowId: '2026-11' };
    const filter = { limit: policy.limit, status: undefined, search: undefined, skip: 0, take: PAGE };
    let buckets: UsageBucketStore;

    beforeAll(() => {
      buckets = new UsageBucketStore(dataSource.getRepository(UsageBucket));
    });

    it('lists groups in pages, the most used first', async () => {
      const pages: number[] = [];
      for (const skip of [0, PAGE, FULL / 2, FULL - PAGE, FULL - 1, FULL]) {
        const [page, total] = await buckets.list(window, { ...filter, skip });
        expect(total).toBe(FULL);
        pages.push(...page.map(({ used }) => Number(used)));
      }
      const run = (from: number, length: number): readonly number[] =>
        Array.from({ length }, (_, index) => from - index);
      // The last group, which was admitted in this file, has used as much as the first.
      const last = [...run(PAGE - 1, PAGE - 1), 1, 1];
      expect(pages).toEqual([...run(FULL - 1, 2 * PAGE), ...run(FULL / 2 - 1, PAGE), ...last]);
    });

    it('filters groups by a part of their name, and by status', async () => {
      const [found, count] = await buckets.list(window, { ...filter, search: 'user:9999' });
      expect(count).toBe(1 + 10);
      expect(found[0]?.valueKey).toBe('metadata.user:99999');
      const [, exhausted] = await buckets.list(window, { ...filter, status: 'exhausted', limit: 99_990n });
      expect(exhausted).toBe(10);
    });

    it('lists no groups of another organisation', async () => {
      expect(await buckets.list({ ...window, organisationId: randomUUID() }, filter)).toEqual([[], 0]);
    });
  });
});
