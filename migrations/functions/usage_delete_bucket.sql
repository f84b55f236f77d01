-- Deletes a bucket: its group starts from nothing with its next call. The ledger keeps what it counted. Returns 'deleted',
-- 'in_use' (calls in flight are reserved in it), or 'missing'. Locks as usage_batch does: first the right to make buckets of the policy, then buckets by id.
CREATE OR REPLACE FUNCTION usage_delete_bucket(
  p_policy_id uuid, p_bucket_hash text, p_window_id text, p_organisation_id uuid
) RETURNS text
LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  v_bucket usage_buckets;
  v_last uuid;
BEGIN
  PERFORM pg_advisory_xact_lock(7160235, hashtext(p_policy_id::text));
  SELECT * INTO v_bucket FROM usage_buckets b
  WHERE b.policy_id = p_policy_id AND b.bucket_hash = p_bucket_hash AND b.window_id = p_window_id
    AND b.organisation_id = p_organisation_id;
  IF NOT FOUND THEN
    RETURN 'missing';
  END IF;
  SELECT b.id INTO v_last FROM usage_buckets b
  WHERE b.policy_id = p_policy_id AND b.window_id = p_window_id ORDER BY b.ordinal DESC LIMIT 1;
  PERFORM FROM usage_buckets b WHERE b.id IN (v_bucket.id, v_last) ORDER BY b.id FOR UPDATE;
  -- After the lock: no batch writes a reservation of this bucket any more.
  IF EXISTS (SELECT FROM usage_reservations r WHERE NOT r.is_withdrawn AND v_bucket.id = ANY (r.bucket_ids)) THEN
    RETURN 'in_use';
  END IF;
  PERFORM usage_remove_bucket(v_bucket.id);
  RETURN 'deleted';
END $$;
