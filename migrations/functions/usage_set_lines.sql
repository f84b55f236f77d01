-- Gives buckets the limit and threshold of now. A mark stays unless its line was raised; a line that is reached is marked and
-- raises its alert. With p_is_refused the limit counts as reached: a call did not fit into what it leaves. The caller has
-- locked the buckets.
CREATE OR REPLACE FUNCTION usage_set_lines(
  p_buckets uuid[], p_limits bigint[], p_thresholds bigint[], p_is_refused boolean
) RETURNS void
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  v_reached uuid[];
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
    JOIN usage_buckets before ON before.id = l.bucket_id
    WHERE b.id = l.bucket_id
    -- The clock of the embedded database counts milliseconds: a mark with the time of now may be that of the change before.
    RETURNING b.id, now() IN (b.threshold_reached_at, b.exhausted_at)
      AND (b.threshold_reached_at, b.exhausted_at) IS DISTINCT FROM (before.threshold_reached_at, before.exhausted_at)
      AS is_reached
  )
  SELECT array_agg(id) INTO v_reached FROM changed WHERE is_reached;
  IF v_reached IS NOT NULL THEN
    PERFORM usage_raise_alerts(v_reached);
  END IF;
END $$;
