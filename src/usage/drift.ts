import type { DataSource } from 'typeorm';
import type { LongStatement } from '../database/long-statement.js';

/** A counter that differs from the sum of the ledger and the adjustments. */
export interface BucketDrift {
  readonly bucketId: string;
  readonly policyId: string;
  readonly windowId: string;
  /** Counter minus ledger, in the policy's unit; never zero here. */
  readonly drift: bigint;
}

/** A call may have been admitted before its bucket existed: by another clock, or while the database was unreachable. */
const SLACK = '7 days';

/** One statement sees one snapshot, so a concurrent write is in both sums or in neither. */
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

/** Counts calls by the sums of days, which are quick to read. */
const CALLS = `
  WITH first AS (
    SELECT min(created_at) - interval '${SLACK}' AS at FROM usage_buckets WHERE updated_at >= $1
  )
  SELECT COALESCE(sum(r.calls), 0) AS calls FROM usage_rollups r
  WHERE r.organisation_id = ANY (ARRAY(SELECT id FROM organisations)) AND r.hours = 24
    AND r.start >= (SELECT date_trunc('day', at, 'UTC') FROM first)`;

/**
 * Buckets whose counter differs from the ledger. There should never be any.
 * @param touchedSince only buckets that changed since then; reads the ledger from the first of their windows on
 */
export async function usageDrift(
  dataSource: Pick<DataSource, 'query'>,
  touchedSince?: Date,
): Promise<readonly BucketDrift[]> {
  return toDrift(await dataSource.query(DRIFT, [touchedSince ?? null]));
}

/**
 * Like `usageDrift`, for a ledger that takes minutes to read.
 * @param signal aborts it
 * @returns undefined when another replica runs it
 */
export async function longUsageDrift(
  statement: Pick<LongStatement, 'query'>,
  touchedSince: Date,
  signal: AbortSignal,
): Promise<readonly BucketDrift[] | undefined> {
  const rows = await statement.query<DriftRow>(DRIFT, [touchedSince], signal);
  return rows === undefined ? undefined : toDrift(rows);
}

/** The approximate number of calls that `usageDrift` reads. */
export async function callsToCompare(dataSource: Pick<DataSource, 'query'>, touchedSince: Date): Promise<number> {
  const [row]: readonly { readonly calls: string }[] = await dataSource.query(CALLS, [touchedSince]);
  return Number(row?.calls ?? 0);
}

type DriftRow = Omit<BucketDrift, 'drift'> & { readonly drift: string };

function toDrift(rows: readonly DriftRow[]): readonly BucketDrift[] {
  return rows.map((row) => ({ ...row, drift: BigInt(row.drift) }));
}
