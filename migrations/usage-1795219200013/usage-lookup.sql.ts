/** What makes a bucket, as columns of JSON. */
export const KEY = `policy_id uuid, bucket_hash varchar(22), window_id varchar(16)`;

/**
 * Ids of the batch's p_buckets. Hash and window are compared as a pair, as a range of one, which only the primary key can
 * look up: of plain equality a planner without statistics (a new table, the embedded database) makes a search in the index
 * of ordinals, through all buckets of the policy.
 */
export const FIND_BUCKETS = `SELECT array_agg(b.id ORDER BY k.place) INTO b_id
        FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (${KEY}))
          WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, place)
        LEFT JOIN usage_buckets b ON b.policy_id = k.policy_id
          AND (b.bucket_hash, b.window_id) >= (k.bucket_hash, k.window_id)
          AND (b.bucket_hash, b.window_id) <= (k.bucket_hash, k.window_id)`;
