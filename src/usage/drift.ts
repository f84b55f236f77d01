import type { DataSource } from 'typeorm';
import type { LongStatement } from '../database/long-statement.js';

/** A counter that is not what the ledger and the adjustments add up to. */
export interface BucketDrift {
  readonly bucketId: string;
  readonly policyId: string;
  readonly windowId: string;
  /** Counter less ledger, in the policy's unit; never zero here. */
  readonly drift: bigint;
}

/** A call may have been admitted before its bucket was there: by another clock, or while the database was away. */
const SLACK = '7 days';

/** One statement, so one moment: what is being written is in both or in neither. */
const DRIFT = `
  WITH bucket AS (
    SELECT id, policy_id, window_id, used, created_at FROM usage_buckets WHERE $1::timestamptz IS NULL OR updated_at >= $1
  ), first AS (
    SELECT CASE WHEN $1::timestamptz IS NULL THEN '-infinity' ELSE min(created_at) - interval '${SLACK}' END AS at FROM bucket
  ), charged AS (
    SELECT c.id, sum(c.amount) AS amount
    FROM usage_events e, unnest(e.bucket_ids, e.amounts) AS c(id, amount)
    WHERE e.at >= (SELECT at FROM first) GROUP BY c.id
  ), adjusted AS (
    SELECT bucket_id AS id, sum(delta) AS amount FROM usage_adjustments GROUP BY bucket_id
  )
  SELECT b.id AS "bucketId", b.policy_id AS "policyId", b.window_id AS "windowId",
    b.used - COALESCE(c.amount, 0) - COALESCE(a.amount, 0) AS drift
  FROM bucket b LEFT JOIN charged c USING (id) LEFT JOIN adjusted a USING (id)
  WHERE b.used <> COALESCE(c.amount, 0) + COALESCE(a.amount, 0)`;

/** By the sums of days, which take a moment to read. */
const CALLS = `
  WITH first AS (
    SELECT min(created_at) - interval '${SLACK}' AS at FROM usage_buckets WHERE updated_at >= $1
  )
  SELECT COALESCE(sum(r.calls), 0) AS calls FROM usage_rollups r
  WHERE r.organisation_id = ANY (ARRAY(SELECT id FROM organisations)) AND r.hours = 24
    AND r.start >= (SELECT date_trunc('day', at, 'UTC') FROM first)`;

/**
 * Buckets whose counter differs from the ledger. There should be none, ever.
 * @param touchedSince only buckets that changed since then; reads the ledger from the first of their windows on
 */
export async function usageDrift(
  dataSource: Pick<DataSource, 'query'>,
  touchedSince?: Date,
): Promise<readonly BucketDrift[]> {
  return toDrift(await dataSource.query(DRIFT, [touchedSince ?? null]));
}

/**
 * The same for a ledger that takes minutes to read.
 * @param signal ends it
 * @returns undefined: another replica does so
 */
export async function longUsageDrift(
  statement: Pick<LongStatement, 'query'>,
  touchedSince: Date,
  signal: AbortSignal,
): Promise<readonly BucketDrift[] | undefined> {
  const rows = await statement.query<DriftRow>(DRIFT, [touchedSince], signal);
  return rows === undefined ? undefined : toDrift(rows);
}

/** About how many calls `usageDrift` reads. */
export async function callsToCompare(dataSource: Pick<DataSource, 'query'>, touchedSince: Date): Promise<number> {
  const [row]: readonly { readonly calls: string }[] = await dataSource.query(CALLS, [touchedSince]);
  return Number(row?.calls ?? 0);
}

type DriftRow = Omit<BucketDrift, 'drift'> & { readonly drift: string };

function toDrift(rows: readonly DriftRow[]): readonly BucketDrift[] {
  return rows.map((row) => ({ ...row, drift: BigInt(row.drift) }));
}
