import type { DataSource } from 'typeorm';

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

/**
 * Buckets whose counter differs from the ledger. There should be none, ever.
 * @param touchedSince only buckets that changed since then; reads the ledger from the first of their windows on
 */
export async function usageDrift(dataSource: DataSource, touchedSince?: Date): Promise<readonly BucketDrift[]> {
  const rows: readonly (Omit<BucketDrift, 'drift'> & { readonly drift: string })[] = await dataSource.query(DRIFT, [
    touchedSince ?? null,
  ]);
  return rows.map((row) => ({ ...row, drift: BigInt(row.drift) }));
}
