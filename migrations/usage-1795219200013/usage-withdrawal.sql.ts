/**
 * Leaves a row in the place of a released reservation that may still be written, by a statement that was given up but is
 * under way: it has the same primary key, so that either waits for the other. It belongs to nobody, and goes with its time.
 * Gateways of the version before do not say for how long.
 */
export function withdraw(condition: string): string {
  return `INSERT INTO usage_reservations (id, at, expires_at, is_withdrawn, organisation_id, api_key_id, endpoint, trace_id,
          cost_nano, tokens, search_units, source, bucket_ids, units, amounts)
        SELECT s.id, s.at, COALESCE(s.expires_at, now() + interval '10 minutes'), true,
          '00000000-0000-0000-0000-000000000000', '', '', '', 0, 0, 0, '', '{}', '{}', '{}'
        FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, status text, expires_at timestamptz, is_final boolean)
        WHERE s.status = 'released' AND ${condition}
        ORDER BY s.id ON CONFLICT DO NOTHING`;
}

/** What is raised where a reservation is found that was not there a moment ago. Whoever sent the batch tries again. */
export const RAISE_CHANGED = `RAISE EXCEPTION 'a reservation was written or taken back meanwhile' USING ERRCODE = '40001'`;

/**
 * Settles at most \`p_max\` reservations whose lease has run out: what was expected is charged and marked as presumed. Any
 * gateway may do it, and two that do it at once take different ones. Returns how many they were.
 */
export const USAGE_REAP = `
  CREATE OR REPLACE FUNCTION usage_reap(p_now timestamptz, p_max integer) RETURNS integer
  LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
  DECLARE
    v_settles jsonb;
  BEGIN
    DELETE FROM usage_reservations WHERE id IN (
      SELECT id FROM usage_reservations WHERE expires_at < p_now AND is_withdrawn
      ORDER BY id LIMIT p_max FOR UPDATE SKIP LOCKED
    );
    SELECT jsonb_agg(jsonb_build_object(
      'id', r.id, 'at', r.at, 'status', 'presumed', 'cost_nano', r.cost_nano, 'tokens', r.tokens,
      'search_units', r.search_units, 'source', r.source, 'price_id', r.price_id))
    INTO v_settles
    FROM (
      SELECT * FROM usage_reservations WHERE expires_at < p_now AND NOT is_withdrawn
      ORDER BY id LIMIT p_max FOR UPDATE SKIP LOCKED
    ) r;
    IF v_settles IS NULL THEN
      RETURN 0;
    END IF;
    PERFORM usage_batch('[]', '[]', '{1}', '{}', '{}', '{}', '{}', v_settles, '[]', '[]', 0);
    RETURN jsonb_array_length(v_settles);
  END $$`;
