-- What an alert says of a bucket, in the units of the API: US dollars or tokens.
CREATE OR REPLACE FUNCTION usage_event_data(b usage_buckets) RETURNS jsonb
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
END $$;
