-- Gives a policy's buckets of one window its new lines, where that matters before the next call does it: what is used has
-- reached one of them or had reached the one before, or calls in flight may reach one. Of very many buckets, the 2,000 that
-- were used last: that is about 100 ms of work, and calls wait one second at most for a bucket. The others get their lines
-- with their next call.
CREATE OR REPLACE FUNCTION usage_change_limit(
  p_policy_id uuid, p_window_id text, p_organisation_id uuid, p_limit bigint, p_threshold bigint
) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
BEGIN
  PERFORM usage_set_lines(array_agg(b.id), array_agg(p_limit), array_agg(p_threshold), false)
  FROM (
    SELECT b.id FROM usage_buckets b
    WHERE b.id = ANY (ARRAY(
      SELECT n.id FROM usage_buckets n
      WHERE n.policy_id = p_policy_id AND n.window_id = p_window_id AND n.organisation_id = p_organisation_id
        AND (n.used > 0 AND n.used >= LEAST(p_limit, p_threshold) OR n.reserved > 0
          OR n.exhausted_at IS NOT NULL OR n.threshold_reached_at IS NOT NULL)
        AND (n.credit_limit, n.alert_threshold) IS DISTINCT FROM (p_limit, p_threshold)
      ORDER BY n.updated_at DESC LIMIT 2000
    ))
    ORDER BY b.id FOR UPDATE
  ) b
  HAVING count(*) > 0;
END $$;
