-- Makes the ledger's partitions of the month of p_from and of the months after it; returns how many were missing. Rows that
-- were written before their partition existed move into it. Attaching blocks only those who write to the default partition;
-- without the lock within half a second it gives up, and the gateway tries again later.
CREATE OR REPLACE FUNCTION usage_make_partitions(p_from timestamptz, p_months_ahead integer) RETURNS integer
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
  v_start timestamptz;
  v_name text;
  v_made integer := 0;
BEGIN
  -- Replicas that start together make each partition once.
  PERFORM pg_advisory_xact_lock(7160234, 0);
  FOR v_month IN 0 .. p_months_ahead LOOP
    v_start := date_trunc('month', p_from) + make_interval(months => v_month);
    v_name := 'usage_events_' || to_char(v_start, 'YYYY_MM');
    CONTINUE WHEN to_regclass(v_name) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE usage_events INCLUDING ALL)', v_name);
    LOCK TABLE usage_events_other IN ACCESS EXCLUSIVE MODE;
    EXECUTE format(
      'WITH moved AS (DELETE FROM usage_events_other WHERE at >= %L AND at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', v_start, v_start + interval '1 month', v_name);
    EXECUTE format(
      'ALTER TABLE usage_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      v_name, v_start, v_start + interval '1 month');
    v_made := v_made + 1;
  END LOOP;
  RETURN v_made;
END $$;
