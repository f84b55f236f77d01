-- Deletes those of the buckets of which nothing was ever used: calls that were refused, or never sent, made them. One in which calls
-- in flight are reserved stays, and so does one that was reset or has raised an alert. The caller has locked the buckets, and
-- holds the right to make buckets of their policies.
CREATE OR REPLACE FUNCTION usage_drop_empty(p_buckets uuid[]) RETURNS void
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  v_id uuid;
BEGIN
  FOR v_id IN
    SELECT b.id FROM usage_buckets b
    WHERE b.id = ANY (p_buckets) AND b.used = 0 AND b.reserved = 0 AND b.epoch = 0 AND b.threshold_reached_at IS NULL
      AND b.exhausted_at IS NULL
      AND NOT EXISTS (SELECT FROM usage_reservations r WHERE NOT r.is_withdrawn AND b.id = ANY (r.bucket_ids))
  LOOP
    PERFORM usage_remove_bucket(v_id);
  END LOOP;
END $$;
