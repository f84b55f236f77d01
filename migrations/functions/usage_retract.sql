-- Takes an extension of a reservation back: p_nano and p_tokens are the total that it brought, p_to_… the total before it. A bucket
-- that holds another amount, and a reservation that was extended further, or is not open any more, stay as they are. So nothing
-- changes when it is sent again.
CREATE OR REPLACE FUNCTION usage_retract(
  p_id uuid, p_nano bigint, p_tokens bigint, p_to_nano bigint, p_to_tokens bigint, p_to_quantities jsonb
) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '1s' SET jit = off SET enable_seqscan = off AS $$
DECLARE
  r usage_reservations;
  v_amounts bigint[];
BEGIN
  -- The order in which all statements lock: reservations, then buckets by id.
  SELECT * INTO r FROM usage_reservations q
  WHERE q.id = p_id AND NOT q.is_withdrawn AND q.cost_nano = p_nano AND q.tokens = p_tokens
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM FROM usage_buckets b WHERE b.id = ANY (r.bucket_ids) ORDER BY b.id FOR UPDATE;
  v_amounts := ARRAY(
    SELECT CASE
      WHEN c.unit = 'cost' AND c.amount = p_nano THEN LEAST(p_to_nano, p_nano)
      WHEN c.unit <> 'cost' AND c.amount = p_tokens THEN LEAST(p_to_tokens, p_tokens)
      ELSE c.amount END
    FROM unnest(r.units, r.amounts) WITH ORDINALITY AS c(unit, amount, place) ORDER BY c.place
  );
  PERFORM usage_apply(array_agg(c.id), array_agg(0::bigint), array_agg(c.kept - c.held))
  FROM unnest(r.bucket_ids, v_amounts, r.amounts) AS c(id, kept, held);
  UPDATE usage_reservations q
  SET amounts = v_amounts, cost_nano = p_to_nano, tokens = p_to_tokens, quantities = p_to_quantities
  WHERE q.id = p_id;
END $$;
