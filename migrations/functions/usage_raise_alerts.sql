-- Writes the alerts of buckets that reached a line in this transaction: the mark of the line has its time. The key makes
-- each line raise one alert in each epoch, also when its mark was removed and set again.
CREATE OR REPLACE FUNCTION usage_raise_alerts(p_buckets uuid[]) RETURNS void
LANGUAGE sql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
  INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
  SELECT b.organisation_id, b.workspace_id, 'usage_limit.' || line.kind,
    concat_ws(':', 'usage', b.id, b.epoch, line.kind, line.amount), usage_event_data(b)
  FROM usage_buckets b
  CROSS JOIN LATERAL (VALUES
    ('threshold_reached', b.alert_threshold, b.threshold_reached_at), ('exhausted', b.credit_limit, b.exhausted_at)
  ) AS line(kind, amount, reached_at)
  WHERE b.id = ANY (p_buckets) AND line.reached_at = now()
  ON CONFLICT (dedupe_key) DO NOTHING;
$$;
