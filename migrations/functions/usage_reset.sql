-- Sets a counter back to 0 by an adjustment, and lets its alerts be raised again (epoch). Calls in flight stay reserved and
-- are charged to what follows. Returns whether there is such a bucket.
CREATE OR REPLACE FUNCTION usage_reset(
  p_policy_id uuid, p_bucket_hash text, p_window_id text, p_organisation_id uuid,
  p_actor_id text, p_reason text, p_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  v_bucket usage_buckets;
BEGIN
  SELECT * INTO v_bucket FROM usage_buckets b
  WHERE b.policy_id = p_policy_id AND b.bucket_hash = p_bucket_hash AND b.window_id = p_window_id
    AND b.organisation_id = p_organisation_id
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
  VALUES (v_bucket.id, p_organisation_id, -v_bucket.used, v_bucket.epoch, p_actor_id, p_reason, p_at);
  UPDATE usage_buckets b
  SET used = 0, epoch = b.epoch + 1, threshold_reached_at = NULL, exhausted_at = NULL, reset_at = clock_timestamp(),
    updated_at = now()
  WHERE b.id = v_bucket.id RETURNING b.* INTO v_bucket;
  INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
  VALUES (v_bucket.organisation_id, v_bucket.workspace_id, 'usage_limit.reset',
    concat_ws(':', 'usage', v_bucket.id, v_bucket.epoch, 'reset'), usage_event_data(v_bucket));
  RETURN true;
END $$;
