-- Writes a mark for released reservations that a statement may still write: one that was given up but is still running.
-- The mark has the same primary key as the reservation, so that either statement waits for the other. It belongs to no call,
-- and expires with its time.
CREATE OR REPLACE FUNCTION usage_withdraw(p_settles jsonb, p_ids uuid[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO usage_reservations (id, at, expires_at, is_withdrawn, organisation_id, api_key_id, endpoint, trace_id,
    cost_nano, tokens, bucket_ids, units, amounts)
  SELECT s.id, s.at, s.expires_at, true, '00000000-0000-0000-0000-000000000000', '', '', '', 0, 0, '{}', '{}', '{}'
  FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, is_released boolean, expires_at timestamptz)
  WHERE s.is_released AND s.id = ANY (p_ids)
  ORDER BY s.id ON CONFLICT DO NOTHING;
$$;
