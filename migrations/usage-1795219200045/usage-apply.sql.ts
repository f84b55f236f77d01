import { RAISE_ALERTS } from '../usage-1795219200013/usage-lines.sql.js';

/** Of bigint, with room for one batch more. No limit is higher. */
export const MAX_COUNT = '9000000000000000000';

/** Of a change, what the counter has room for. No step of this leaves bigint, since no batch comes to 10^18. */
const COUNTED = `GREATEST(LEAST(c.spent, ${MAX_COUNT} - b.used), -b.used)`;

/**
 * Adds to counters and raises the alerts of lines that are reached: one that was reached and told before has its mark.
 * What a correction makes room in is no longer exhausted. A counter stays between zero and the most that it holds; what it
 * has no room for is an adjustment, since the ledger says what was used. The caller has locked the buckets, in order of
 * their id.
 */
export const USAGE_APPLY = `
  CREATE OR REPLACE FUNCTION usage_apply(p_buckets uuid[], p_spent bigint[], p_held bigint[]) RETURNS void
  LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
  BEGIN
    WITH change AS (
      SELECT c.bucket_id, sum(c.spent)::bigint AS spent, sum(c.held)::bigint AS held
      FROM unnest(p_buckets, p_spent, p_held) AS c(bucket_id, spent, held) GROUP BY c.bucket_id
    ), changed AS (
      UPDATE usage_buckets b
      SET used = b.used + ${COUNTED}, reserved = b.reserved + c.held, updated_at = now(),
        threshold_reached_at = COALESCE(b.threshold_reached_at,
          CASE WHEN b.used + ${COUNTED} > 0 AND b.used + ${COUNTED} >= b.alert_threshold THEN now() END),
        exhausted_at = CASE
          WHEN b.used + ${COUNTED} > 0 AND b.used + ${COUNTED} >= b.credit_limit THEN COALESCE(b.exhausted_at, now())
          WHEN c.spent >= 0 THEN b.exhausted_at END
      FROM change c WHERE b.id = c.bucket_id
      RETURNING b AS bucket, b.*, c.spent
    ), compensated AS (
      -- The table as it was before this statement: it is read only where a counter came to one of its ends.
      INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
      SELECT b.id, b.organisation_id, b.delta, b.epoch, 'gateway', 'more than a counter holds', now()
      FROM (
        SELECT c.*, c.used - (SELECT before.used FROM usage_buckets before WHERE before.id = c.id) - c.spent AS delta
        FROM changed c WHERE c.used = ${MAX_COUNT} OR (c.used = 0 AND c.spent < 0)
      ) b WHERE b.delta <> 0
    )
    ${RAISE_ALERTS};
  END $$`;
