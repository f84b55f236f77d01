-- Settles at most p_max reservations whose lease has run out: their bound is charged, with the source `presumed`. Any gateway
-- may do it; two that do it at once take different ones. Returns how many they were.
--
-- When a reservation cannot be charged, each is settled by itself, and that one is put off for an hour: it must not block
-- those that come after it.
CREATE OR REPLACE FUNCTION usage_reap(p_now timestamptz, p_max integer) RETURNS integer
LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  v_settles jsonb;
  v_settle jsonb;
  v_done integer := 0;
BEGIN
  DELETE FROM usage_reservations WHERE id IN (
    SELECT id FROM usage_reservations WHERE expires_at < p_now AND is_withdrawn
    ORDER BY id LIMIT p_max FOR UPDATE SKIP LOCKED
  );
  SELECT jsonb_agg(jsonb_build_object(
    'id', r.id, 'at', r.at, 'source', 'presumed', 'outcome', 'unknown', 'cost_nano', r.cost_nano, 'tokens', r.tokens,
    'quantities', r.quantities, 'mode', r.mode, 'tier', r.tier, 'price_ids', r.price_ids))
  INTO v_settles
  FROM (
    SELECT * FROM usage_reservations WHERE expires_at < p_now AND NOT is_withdrawn
    ORDER BY id LIMIT p_max FOR UPDATE SKIP LOCKED
  ) r;
  IF v_settles IS NULL THEN
    RETURN 0;
  END IF;
  BEGIN
    PERFORM usage_batch('[]', '[]', '{1}', '{}', '{}', '{}', '{}', v_settles, '[]', 0);
    RETURN jsonb_array_length(v_settles);
  EXCEPTION
    -- These pass by themselves: locks of others, a deadlock, a cancelled statement, a server that is full.
    WHEN lock_not_available OR transaction_rollback OR operator_intervention OR insufficient_resources THEN RAISE;
    WHEN OTHERS THEN NULL;
  END;
  -- All buckets first, in the order in which everyone locks them.
  PERFORM FROM usage_buckets b WHERE b.id = ANY (ARRAY(
    SELECT unnest(r.bucket_ids) FROM jsonb_to_recordset(v_settles) AS s(id uuid) JOIN usage_reservations r ON r.id = s.id
  )) ORDER BY b.id FOR UPDATE;
  FOR v_settle IN SELECT jsonb_array_elements(v_settles) LOOP
    BEGIN
      PERFORM usage_batch('[]', '[]', '{1}', '{}', '{}', '{}', '{}', jsonb_build_array(v_settle), '[]', 0);
      v_done := v_done + 1;
    EXCEPTION
      WHEN lock_not_available OR transaction_rollback OR operator_intervention OR insufficient_resources THEN RAISE;
      WHEN OTHERS THEN
        RAISE WARNING 'reservation % cannot be charged (SQLSTATE %): put off for an hour', v_settle->>'id', SQLSTATE;
        UPDATE usage_reservations SET expires_at = p_now + interval '1 hour' WHERE id = (v_settle->>'id')::uuid;
    END;
  END LOOP;
  RETURN v_done;
END $$;
