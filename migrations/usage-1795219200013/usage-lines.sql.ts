/**
 * Writes the events of the lines that `changed` buckets reached in this transaction: its time is the mark. The key keeps one
 * line of one epoch from being told twice, also where a mark was taken off meanwhile.
 */
export const RAISE_ALERTS = `INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
    SELECT b.organisation_id, b.workspace_id, 'usage_limit.' || line.kind,
      concat_ws(':', 'usage', b.id, b.epoch, line.kind, line.amount), usage_event_data(b.bucket)
    FROM changed b
    CROSS JOIN LATERAL (VALUES
      ('threshold_reached', b.alert_threshold, b.threshold_reached_at), ('exhausted', b.credit_limit, b.exhausted_at)
    ) AS line(kind, amount, reached_at)
    WHERE line.reached_at = now()
    ON CONFLICT (dedupe_key) DO NOTHING`;

/**
 * Adds to counters and raises the alerts of lines that are reached: one that was reached and told before has its mark.
 * What a correction makes room in is no longer exhausted. The caller has locked the buckets, in order of their id.
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
      SET used = b.used + c.spent, reserved = b.reserved + c.held, updated_at = now(),
        threshold_reached_at = COALESCE(b.threshold_reached_at,
          CASE WHEN b.used + c.spent > 0 AND b.used + c.spent >= b.alert_threshold THEN now() END),
        exhausted_at = CASE
          WHEN b.used + c.spent > 0 AND b.used + c.spent >= b.credit_limit THEN COALESCE(b.exhausted_at, now())
          WHEN c.spent >= 0 THEN b.exhausted_at END
      FROM change c WHERE b.id = c.bucket_id
      RETURNING b AS bucket, b.*
    )
    ${RAISE_ALERTS};
  END $$`;

/**
 * Gives buckets the limit and threshold of now. A mark stays unless its line was raised; a line that is reached gets one and
 * raises its alert. With p_is_refused the limit counts as reached: a call did not fit into what it leaves. The caller has
 * locked the buckets, in order of their id.
 */
export const USAGE_SET_LINES = `
  CREATE FUNCTION usage_set_lines(p_buckets uuid[], p_limits bigint[], p_thresholds bigint[], p_is_refused boolean)
  RETURNS void
  LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
  BEGIN
    WITH changed AS (
      UPDATE usage_buckets b
      SET credit_limit = l.credit_limit, alert_threshold = l.alert_threshold, updated_at = now(),
        threshold_reached_at = COALESCE(
          CASE WHEN l.alert_threshold <= b.alert_threshold THEN b.threshold_reached_at END,
          CASE WHEN b.used > 0 AND b.used >= l.alert_threshold THEN now() END),
        exhausted_at = COALESCE(
          CASE WHEN l.credit_limit <= b.credit_limit THEN b.exhausted_at END,
          CASE WHEN p_is_refused OR (b.used > 0 AND b.used >= l.credit_limit) THEN now() END)
      FROM unnest(p_buckets, p_limits, p_thresholds) AS l(bucket_id, credit_limit, alert_threshold)
      WHERE b.id = l.bucket_id
      RETURNING b AS bucket, b.*
    )
    ${RAISE_ALERTS};
  END $$`;

/**
 * Gives a policy's buckets of one window its new lines, where that matters before the next call does it: what is used has
 * reached one of them, calls under way may reach one, or what was exhausted has room again.
 */
export const USAGE_CHANGE_LIMIT = `
  CREATE FUNCTION usage_change_limit(
    p_policy_id uuid, p_window_id text, p_organisation_id uuid, p_limit bigint, p_threshold bigint
  ) RETURNS void
  LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
  BEGIN
    PERFORM usage_set_lines(array_agg(b.id), array_agg(p_limit), array_agg(p_threshold), false)
    FROM (
      SELECT b.id FROM usage_buckets b
      WHERE b.policy_id = p_policy_id AND b.window_id = p_window_id AND b.organisation_id = p_organisation_id
        AND (b.used >= LEAST(p_limit, p_threshold) OR b.reserved > 0 OR b.exhausted_at IS NOT NULL)
        AND (b.credit_limit, b.alert_threshold) IS DISTINCT FROM (p_limit, p_threshold)
      ORDER BY b.id FOR UPDATE
    ) b
    HAVING count(*) > 0;
  END $$`;
