-- Drops the oldest of the ledger's partitions whose month ended at p_before or earlier; returns its name, or null when there
-- is none. Counters that are still there keep what the rows had charged, as an adjustment: used = ledger + adjustments.
-- Adding up a large month takes minutes, and blocks only who would write to it. Dropping blocks all who use the ledger; without the
-- locks within half a second it gives up, and the gateway tries again later. The rows of no month (usage_events_other) stay.
CREATE OR REPLACE FUNCTION usage_drop_partition(p_before timestamptz) RETURNS text
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
  v_name text;
BEGIN
  SELECT c.relname INTO v_name
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'usage_events'::regclass AND c.relname ~ '^usage_events_\d{4}_\d{2}$'
    AND to_timestamp(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= p_before
  ORDER BY c.relname LIMIT 1;
  IF v_name IS NULL THEN
    RETURN NULL;
  END IF;
  EXECUTE format('LOCK TABLE %I IN SHARE MODE', v_name);
  EXECUTE format(
    'INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
     SELECT b.id, b.organisation_id, c.amount, b.epoch, ''gateway'', ''deleted from the ledger: '' || %L, now()
     FROM (
       SELECT u.id, sum(u.amount)::bigint AS amount
       FROM %I e, unnest(e.bucket_ids, e.amounts) AS u(id, amount) GROUP BY u.id
     ) c JOIN usage_buckets b ON b.id = c.id WHERE c.amount <> 0', v_name, v_name);
  -- Never while a replica makes others, which would wait for the ledger too.
  PERFORM pg_advisory_xact_lock(7160234, 0);
  EXECUTE format('DROP TABLE %I', v_name);
  RETURN v_name;
END $$;
