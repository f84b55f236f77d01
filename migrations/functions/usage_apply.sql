-- Adds to counters: p_spent to what is used, p_held to what is reserved. The caller has locked the buckets.
--
-- A counter stays between 0 and 9 × 10^18, which is PostgreSQL's bigint with room for one batch more; no limit is higher. The
-- ledger says what was used, so what the counter has no room for becomes an adjustment: used = ledger + adjustments.
-- A line (threshold or limit) that is reached is marked and raises its alert once. A correction that makes room removes the
-- mark of the limit.
CREATE OR REPLACE FUNCTION usage_apply(p_buckets uuid[], p_spent bigint[], p_held bigint[]) RETURNS void
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  c_most constant bigint := 9000000000000000000;
  v_reached uuid[];
BEGIN
  WITH change AS (
    SELECT c.bucket_id, sum(c.spent)::bigint AS spent, sum(c.held)::bigint AS held
    FROM unnest(p_buckets, p_spent, p_held) AS c(bucket_id, spent, held) GROUP BY c.bucket_id
  ), changed AS (
    UPDATE usage_buckets b
    SET used = b.used + n.counted, reserved = b.reserved + c.held, updated_at = now(),
      threshold_reached_at = COALESCE(b.threshold_reached_at,
        CASE WHEN b.used + n.counted > 0 AND b.used + n.counted >= b.alert_threshold THEN now() END),
      exhausted_at = CASE
        WHEN b.used + n.counted > 0 AND b.used + n.counted >= b.credit_limit THEN COALESCE(b.exhausted_at, now())
        WHEN c.spent >= 0 THEN b.exhausted_at END
    FROM change c
    -- No step of this leaves bigint: a batch does not come to 10^18.
    JOIN usage_buckets k ON k.id = c.bucket_id
    CROSS JOIN LATERAL (SELECT GREATEST(LEAST(c.spent, c_most - k.used), -k.used) AS counted) n
    WHERE b.id = c.bucket_id
    RETURNING b.id, b.organisation_id, b.epoch, n.counted, c.spent,
      now() IN (b.threshold_reached_at, b.exhausted_at) AS is_reached
  ), compensated AS (
    INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
    SELECT id, organisation_id, counted - spent, epoch, 'gateway', 'more than a counter holds', now()
    FROM changed WHERE counted <> spent
  )
  SELECT array_agg(id) INTO v_reached FROM changed WHERE is_reached;
  IF v_reached IS NOT NULL THEN
    PERFORM usage_raise_alerts(v_reached);
  END IF;
END $$;
