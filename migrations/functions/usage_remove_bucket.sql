-- Removes a bucket. The last bucket of the policy and window takes its ordinal, which counts the buckets. The caller has locked
-- both, and holds the right to make buckets of the policy.
CREATE OR REPLACE FUNCTION usage_remove_bucket(p_id uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bucket usage_buckets;
BEGIN
  DELETE FROM usage_buckets b WHERE b.id = p_id RETURNING b.* INTO v_bucket;
  UPDATE usage_buckets b SET ordinal = v_bucket.ordinal
  WHERE b.id = (
    SELECT l.id FROM usage_buckets l WHERE l.policy_id = v_bucket.policy_id AND l.window_id = v_bucket.window_id
    ORDER BY l.ordinal DESC LIMIT 1
  ) AND b.ordinal > v_bucket.ordinal;
END $$;
