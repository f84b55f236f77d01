/** What an event tells of a bucket, in the units of the API: US dollars or tokens. */
export const USAGE_EVENT_DATA = `
  CREATE FUNCTION usage_event_data(b usage_buckets) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
  DECLARE
    v_scale numeric := CASE b.unit WHEN 'cost' THEN 1000000000 ELSE 1 END;
  BEGIN
    RETURN jsonb_build_object(
      'policy_id', b.policy_id,
      'policy_name', (SELECT p.name FROM usage_policies p WHERE p.id = b.policy_id),
      'type', b.unit,
      'bucket', jsonb_build_object('id', b.id, 'value_key', b.value_key),
      'window', jsonb_build_object(
        'id', b.window_id,
        'resets_at', to_char(b.resets_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      'credit_limit', trim_scale(b.credit_limit / v_scale),
      'alert_threshold', trim_scale(b.alert_threshold / v_scale),
      'current_usage', trim_scale(b.used / v_scale));
  END $$`;

/**
 * Adds to counters and raises the alerts of what is crossed by it: whoever takes the counter from below the line to it or
 * beyond is one transaction only, since the rows are locked. The caller has locked them, in order of their id.
 */
export const USAGE_APPLY = `
  CREATE FUNCTION usage_apply(p_buckets uuid[], p_spent bigint[], p_held bigint[]) RETURNS void
  LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
  BEGIN
    WITH change AS (
      SELECT c.bucket_id, sum(c.spent)::bigint AS spent, sum(c.held)::bigint AS held
      FROM unnest(p_buckets, p_spent, p_held) AS c(bucket_id, spent, held) GROUP BY c.bucket_id
    ), changed AS (
      UPDATE usage_buckets b
      SET used = b.used + c.spent, reserved = b.reserved + c.held, updated_at = now()
      FROM change c WHERE b.id = c.bucket_id
      RETURNING b AS bucket, b.used - c.spent AS used_before, b.*
    )
    INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
    SELECT b.organisation_id, b.workspace_id, 'usage_limit.' || line.kind,
      concat_ws(':', 'usage', b.id, b.epoch, line.kind, line.amount), usage_event_data(b.bucket)
    FROM changed b
    CROSS JOIN LATERAL (VALUES ('threshold_reached', b.alert_threshold), ('exhausted', b.credit_limit))
      AS line(kind, amount)
    WHERE b.used_before < line.amount AND line.amount <= b.used
    ON CONFLICT (dedupe_key) DO NOTHING;
  END $$`;

/**
 * Settles at most \`p_max\` reservations whose lease has run out: what was expected is charged and marked as presumed. Any
 * gateway may do it, and two that do it at once take different ones. Returns how many they were.
 */
export const USAGE_REAP = `
  CREATE FUNCTION usage_reap(p_now timestamptz, p_max integer) RETURNS integer
  LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
  DECLARE
    v_settles jsonb;
  BEGIN
    SELECT jsonb_agg(jsonb_build_object(
      'id', r.id, 'at', r.at, 'status', 'presumed', 'cost_nano', r.cost_nano, 'tokens', r.tokens,
      'search_units', r.search_units, 'source', r.source, 'price_id', r.price_id))
    INTO v_settles
    FROM (
      SELECT * FROM usage_reservations WHERE expires_at < p_now ORDER BY id LIMIT p_max FOR UPDATE SKIP LOCKED
    ) r;
    IF v_settles IS NULL THEN
      RETURN 0;
    END IF;
    PERFORM usage_batch('[]', '[]', '{1}', '{}', '{}', '{}', '{}', v_settles, '[]', '[]', 0);
    RETURN jsonb_array_length(v_settles);
  END $$`;

/**
 * Brings a counter back to zero by an adjustment, and arms its alerts again (epoch). What is under way stays reserved and
 * is charged to what follows. Returns whether there is such a bucket.
 */
export const USAGE_RESET = `
  CREATE FUNCTION usage_reset(
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
    SET used = 0, epoch = b.epoch + 1, reset_at = clock_timestamp(), updated_at = now()
    WHERE b.id = v_bucket.id RETURNING b.* INTO v_bucket;
    INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
    VALUES (v_bucket.organisation_id, v_bucket.workspace_id, 'usage_limit.reset',
      concat_ws(':', 'usage', v_bucket.id, v_bucket.epoch, 'reset'), usage_event_data(v_bucket));
    RETURN true;
  END $$`;
