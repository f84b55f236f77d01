-- Everything that a gateway has waiting for its counters, in one transaction: settlements first, then admissions in order.
--
-- The invariant: for each bucket whose charge is enforced, used + reserved <= limit at every instant, as far as this function
-- reserves. It holds because
--   1. every bucket of the batch is locked (step 2) before it is read (step 4), and stays locked until the commit;
--   2. a call is admitted only if its amount fits beside all that is used and reserved, in all of its buckets (step 4);
--   3. what is reserved is written in the transaction that says so (steps 4 and 5), together with the reservation's row, which
--      remembers the amount of each bucket;
--   4. a reservation ends once: the statement that deletes its row returns its amounts and charges what was used (step 3);
--   5. a bucket that was deleted before its lock was granted sends the batch back to its sender (step 4).
-- A settlement charges what the provider reports, which can be more than the bound; that is the caller's bound, not this
-- function's.
--
-- All statements lock in one order, so that no deadlock occurs: reservations by id, ledger rows by id, the right to make
-- buckets of a policy, buckets by id. Index look-ups are forced: a plan that was made while a table was small must not read
-- it from end to end once it is large. They look expensive to the planner, and compiling them (JIT) would cost far more.
--
-- p_buckets   what is charged, each bucket once; other parameters name them by their place here, from 1
-- p_reserves  admissions, in order. With is_extension the higher bound of a reservation: its charges are the new totals.
--             The charges of the nth are p_charge_*[p_starts[n] .. p_starts[n + 1] - 1]
-- p_settles   settlements by id and time of admission. is_released: nothing was sent. is_final: the caller was refused, but
--             the reservation may still arrive, and must not be written then (until expires_at)
-- p_records   usage without a reservation: not limited, or of a reservation that got lost
-- o_outcomes  of p_reserves: 0 admitted, 1 contended, 2 crowded, 3 exceeded, 4 was released before, 5 (extension) not open
-- o_verdicts, o_used, o_reserved  of the charges
-- o_lost      settlements of which nothing is known
CREATE OR REPLACE FUNCTION usage_batch(
  p_buckets jsonb, p_reserves jsonb, p_starts integer[], p_charge_buckets integer[], p_charge_amounts bigint[],
  p_charge_limits bigint[], p_charge_enforced boolean[], p_settles jsonb, p_records jsonb, p_max_buckets integer,
  OUT o_outcomes smallint[], OUT o_verdicts smallint[], OUT o_used bigint[], OUT o_reserved bigint[], OUT o_lost uuid[]
) LANGUAGE plpgsql
SET lock_timeout = '1s' SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  -- The most that a counter holds. See usage_apply.
  c_most constant bigint := 9000000000000000000;
  c_changed constant text := 'a reservation was written or taken back meanwhile';
  -- Of p_settles: their ids, those that are final, those whose reservation is open, those that correct what was presumed.
  s_ids uuid[] := '{}'; s_final uuid[]; s_found uuid[] := '{}'; s_late uuid[] := '{}';
  -- Reservations that are extended.
  x_ids uuid[];
  v_touched uuid[] := '{}'; v_more uuid[]; v_spent bigint[]; v_held bigint[];
  -- Settlements that may come to nothing, buckets in which nothing may be left after them, and the last ones of their groups.
  s_free uuid[]; v_emptied uuid[] := '{}'; v_last uuid[] := '{}';
  -- Of p_buckets, by their place. The id is null while there is no row; the group is policy and window; the limit is that of
  -- a bucket whose next refusal is to be noted.
  b_id uuid[] := '{}'; b_locked uuid[]; b_unit text[]; b_used bigint[]; b_reserved bigint[]; b_group integer[]; b_needed boolean[];
  b_limit bigint[]; b_ordinal integer[] := '{}'; b_added bigint[] := '{}';
  -- Of the groups: the number of buckets.
  g_last integer[];
  -- Of p_reserves, by their place.
  r_id uuid[]; r_extends boolean[]; r_known boolean[]; r_withdrawn boolean[];
  -- Of the extension in hand: its buckets, and what they hold for it; the same by charge.
  h_ids uuid[]; h_amounts bigint[]; c_held bigint[] := '{}';
  v_count integer := jsonb_array_length(p_buckets);
  v_outcome smallint; v_verdict smallint; v_b integer; v_place integer; v_left bigint;
  v_new integer := 0; v_written integer; v_exhausted integer[] := '{}';
BEGIN
  -- 1. Lock the reservations that are settled or extended, and find out which buckets they touch.
  SELECT array_agg(q.id) INTO x_ids
  FROM jsonb_to_recordset(p_reserves) AS q(id uuid, is_extension boolean) WHERE q.is_extension;
  IF p_settles <> '[]' OR x_ids IS NOT NULL THEN
    SELECT COALESCE(array_agg(s.id), '{}'), array_agg(s.id) FILTER (WHERE s.is_final),
      array_agg(s.id) FILTER (WHERE s.is_released OR s.cost_nano = 0 OR s.tokens = 0)
    INTO s_ids, s_final, s_free
    FROM jsonb_to_recordset(p_settles) AS s(id uuid, is_final boolean, is_released boolean, cost_nano bigint, tokens bigint);
    SELECT COALESCE(array_agg(DISTINCT r.id) FILTER (WHERE r.id = ANY (s_ids)), '{}'),
      COALESCE(array_agg(DISTINCT c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
    INTO s_found, v_touched
    FROM (
      SELECT r.id, r.bucket_ids FROM usage_reservations r WHERE r.id = ANY (s_ids || x_ids) AND NOT r.is_withdrawn
      ORDER BY r.id FOR UPDATE
    ) r LEFT JOIN LATERAL unnest(r.bucket_ids) AS c(id) ON true;

    -- The other settlements were written before, presumed spent before (the truth comes late), or got lost.
    IF cardinality(s_found) < cardinality(s_ids) THEN
      SELECT array_agg(s.id) INTO v_more
      FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, is_released boolean, is_final boolean)
      WHERE s.is_released AND s.id <> ALL (s_found)
        AND (s.is_final OR NOT EXISTS (SELECT FROM usage_events e WHERE e.id = s.id AND e.at = s.at));
      PERFORM usage_withdraw(p_settles, v_more);
      IF EXISTS (
        SELECT FROM usage_reservations r WHERE r.id = ANY (s_ids) AND r.id <> ALL (s_found) AND NOT r.is_withdrawn
      ) THEN
        -- Written since the look-up. The sender of the batch tries again.
        RAISE EXCEPTION '%', c_changed USING ERRCODE = '40001';
      END IF;
      SELECT COALESCE(array_agg(DISTINCT e.id), '{}'),
        COALESCE(array_agg(DISTINCT c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
      INTO s_late, v_more
      FROM (
        SELECT e.id, e.bucket_ids
        FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, source text)
        JOIN usage_events e ON e.id = s.id AND e.at = s.at
        WHERE s.id <> ALL (s_found) AND s.source IS DISTINCT FROM 'presumed' AND e.source = 'presumed'
        ORDER BY e.id FOR UPDATE OF e
      ) e LEFT JOIN LATERAL unnest(e.bucket_ids) AS c(id) ON true;
      v_touched := v_touched || v_more;
      SELECT array_agg(s.id) INTO o_lost
      FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, is_released boolean)
      WHERE s.id <> ALL (s_found) AND s.is_released IS NOT TRUE
        AND NOT EXISTS (SELECT FROM usage_events e WHERE e.id = s.id AND e.at = s.at);
    END IF;
  END IF;

  IF s_free IS NOT NULL THEN
    SELECT COALESCE(array_agg(DISTINCT b.id), '{}') INTO v_emptied
    FROM usage_reservations r, unnest(r.bucket_ids, r.amounts) AS c(id, held) JOIN usage_buckets b ON b.id = c.id
    WHERE r.id = ANY (s_free) AND c.held > 0 AND b.used = 0;
  END IF;

  -- 2. Find and lock the buckets. Where one is missing or may go, no other statement may make buckets of that policy until this
  -- one is over.
  -- Hash and window are compared as a pair, as a range of one, which only the primary key can look up: of plain equality a
  -- planner without statistics makes a search in the index of ordinals, through all buckets of the policy.
  IF v_count > 0 OR v_emptied <> '{}' THEN
    FOR v_try IN 1 .. 2 LOOP
      SELECT COALESCE(array_agg(b.id ORDER BY k.place), '{}') INTO b_id
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, bucket_hash varchar(22), window_id varchar(16)))
        WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, place)
      LEFT JOIN usage_buckets b ON b.policy_id = k.policy_id
        AND (b.bucket_hash, b.window_id) >= (k.bucket_hash, k.window_id)
        AND (b.bucket_hash, b.window_id) <= (k.bucket_hash, k.window_id);
      EXIT WHEN v_try = 2 OR (array_position(b_id, NULL) IS NULL AND v_emptied = '{}');
      PERFORM pg_advisory_xact_lock(7160235, p.lock)
      FROM (
        SELECT hashtext(k.policy_id::text) AS lock
        FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid)) WITH ORDINALITY AS k(policy_id, place)
        WHERE b_id[k.place] IS NULL
        UNION SELECT hashtext(b.policy_id::text) FROM usage_buckets b WHERE b.id = ANY (v_emptied) ORDER BY 1
      ) p;
    END LOOP;
  END IF;
  IF v_emptied <> '{}' THEN
    SELECT COALESCE(array_agg(l.id), '{}') INTO v_last
    FROM (
      SELECT b.policy_id, b.window_id, count(*) AS count FROM usage_buckets b WHERE b.id = ANY (v_emptied)
      GROUP BY b.policy_id, b.window_id
    ) g CROSS JOIN LATERAL (
      SELECT b.id FROM usage_buckets b WHERE b.policy_id = g.policy_id AND b.window_id = g.window_id
      ORDER BY b.ordinal DESC LIMIT g.count
    ) l;
  END IF;
  PERFORM FROM usage_buckets b WHERE b.id = ANY (v_touched || b_id || v_last) ORDER BY b.id FOR UPDATE;

  -- 3a. Settle: from reserved to used, and into the ledger. The whole of what is held is given back, whatever was used.
  IF s_found <> '{}' THEN
    WITH gone AS (
      DELETE FROM usage_reservations r
      USING jsonb_to_recordset(p_settles) AS s(id uuid, is_released boolean, cost_nano bigint, tokens bigint,
        quantities jsonb, source varchar(16), outcome varchar(16), mode varchar(16), tier integer, price_ids uuid[],
        first_token_ms integer)
      WHERE r.id = s.id AND NOT r.is_withdrawn
      RETURNING r.id, r.at, r.organisation_id, r.workspace_id, r.api_key_id, r.virtual_key, r.provider, r.model,
        r.endpoint, r.mcp_server, r.mcp_tool, r.metadata, r.trace_id, r.attempt, s.is_released, s.cost_nano, s.tokens,
        s.quantities, s.source, s.outcome, s.mode, s.tier, s.price_ids, s.first_token_ms, r.bucket_ids, r.amounts AS held,
        ARRAY(
          SELECT CASE WHEN s.is_released THEN 0 WHEN u.unit = 'cost' THEN s.cost_nano ELSE s.tokens END
          FROM unnest(r.units) WITH ORDINALITY AS u(unit, place) ORDER BY u.place
        ) AS amounts
    ), noted AS (
      INSERT INTO usage_events (id, at, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint,
        mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, source, outcome, mode, tier,
        price_ids, first_token_ms, bucket_ids, amounts)
      SELECT id, at, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint,
        mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, source, outcome, mode, tier,
        price_ids, first_token_ms, bucket_ids, amounts
      FROM gone WHERE is_released IS NOT TRUE ORDER BY id
      ON CONFLICT DO NOTHING RETURNING id
    )
    SELECT array_agg(c.bucket_id), array_agg(CASE WHEN g.id IN (SELECT id FROM noted) THEN c.amount ELSE 0 END),
      array_agg(-c.held)
    INTO v_more, v_spent, v_held
    FROM gone g, unnest(g.bucket_ids, g.amounts, g.held) AS c(bucket_id, amount, held);
    PERFORM usage_apply(v_more, v_spent, v_held);
    IF s_final && s_found THEN
      SELECT array_agg(id) INTO v_more FROM unnest(s_final) AS f(id) WHERE id = ANY (s_found);
      PERFORM usage_withdraw(p_settles, v_more);
    END IF;
  END IF;

  -- 3b. The truth about what was presumed. What lies before a reset is not taken from what came after it.
  IF s_late <> '{}' THEN
    WITH truth AS (
      SELECT e.id, e.at, s.is_released, s.cost_nano, s.tokens, s.quantities, s.source, s.outcome, s.mode, s.tier,
        s.price_ids, s.first_token_ms, e.bucket_ids, e.amounts AS presumed, e.charged_at,
        -- A bucket that is gone keeps its amount, which nothing counts any more: the others must not take its place.
        ARRAY(
          SELECT CASE WHEN s.is_released THEN 0 WHEN b.unit IS NULL THEN c.amount WHEN b.unit = 'cost' THEN s.cost_nano
            ELSE s.tokens END
          FROM unnest(e.bucket_ids, e.amounts) WITH ORDINALITY AS c(id, amount, place)
          LEFT JOIN usage_buckets b ON b.id = c.id ORDER BY c.place
        ) AS amounts
      FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, is_released boolean, cost_nano bigint,
        tokens bigint, quantities jsonb, source varchar(16), outcome varchar(16), mode varchar(16), tier integer,
        price_ids uuid[], first_token_ms integer)
      JOIN usage_events e ON e.id = s.id AND e.at = s.at WHERE e.id = ANY (s_late)
    ), corrected AS (
      UPDATE usage_events e
      SET cost_nano = t.cost_nano, tokens = t.tokens, quantities = t.quantities, source = t.source, outcome = t.outcome,
        mode = t.mode, tier = t.tier, price_ids = t.price_ids, first_token_ms = t.first_token_ms, amounts = t.amounts
      FROM truth t WHERE e.id = t.id AND e.at = t.at AND t.is_released IS NOT TRUE
    ), taken_back AS (
      DELETE FROM usage_events e USING truth t WHERE e.id = t.id AND e.at = t.at AND t.is_released
    ), change AS (
      SELECT b.id, b.organisation_id, b.epoch, c.amount - c.presumed AS difference, t.charged_at < b.reset_at AS is_old
      FROM truth t, unnest(t.bucket_ids, t.amounts, t.presumed) AS c(bucket_id, amount, presumed)
      JOIN usage_buckets b ON b.id = c.bucket_id
    ), compensated AS (
      INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
      SELECT id, organisation_id, -difference, epoch, 'gateway', 'correction of usage from before a reset', now()
      FROM change WHERE is_old AND difference <> 0
    )
    SELECT array_agg(id), array_agg(CASE WHEN is_old THEN 0 ELSE difference END), array_agg(0)
    INTO v_more, v_spent, v_held FROM change;
    PERFORM usage_apply(v_more, v_spent, v_held);
  END IF;

  -- 4. Admit. First what the buckets hold now, under their locks.
  SELECT array_agg(b.id ORDER BY k.place), array_agg(k.unit ORDER BY k.place), array_agg(COALESCE(b.used, 0) ORDER BY k.place),
    array_agg(COALESCE(b.reserved, 0) ORDER BY k.place), array_agg(k.is_needed ORDER BY k.place),
    array_agg(k.group_no ORDER BY k.place), array_agg(
      CASE WHEN b.used > 0 AND (b.exhausted_at IS NULL OR b.credit_limit < k.credit_limit) THEN k.credit_limit END
      ORDER BY k.place)
  INTO b_locked, b_unit, b_used, b_reserved, b_needed, b_group, b_limit
  FROM (
    SELECT *, dense_rank() OVER (ORDER BY policy_id, window_id)::integer AS group_no
    FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, window_id varchar(16), unit text, is_needed boolean,
      credit_limit bigint)) WITH ORDINALITY AS k(policy_id, window_id, unit, is_needed, credit_limit, place)
  ) k LEFT JOIN usage_buckets b ON b.id = b_id[k.place];
  IF v_count > 0 AND b_locked IS DISTINCT FROM b_id THEN
    RAISE EXCEPTION 'a bucket was deleted meanwhile' USING ERRCODE = '40001';
  END IF;
  IF array_position(b_id, NULL) IS NOT NULL THEN
    SELECT array_agg(COALESCE(l.ordinal, 0) ORDER BY k.policy_id, k.window_id) INTO g_last
    FROM (
      SELECT DISTINCT policy_id, window_id
      FROM jsonb_to_recordset(p_buckets) AS k(policy_id uuid, window_id varchar(16))
    ) k LEFT JOIN LATERAL (
      SELECT b.ordinal FROM usage_buckets b WHERE b.policy_id = k.policy_id AND b.window_id = k.window_id
      ORDER BY b.ordinal DESC LIMIT 1
    ) l ON true;
  END IF;
  -- A known id was sent before, and the answer did not arrive.
  SELECT array_agg(q.id ORDER BY q.place), array_agg(COALESCE(q.is_extension, false) ORDER BY q.place),
    array_agg(r.id IS NOT NULL OR e.id IS NOT NULL ORDER BY q.place),
    array_agg(COALESCE(r.is_withdrawn, false) ORDER BY q.place)
  INTO r_id, r_extends, r_known, r_withdrawn
  FROM ROWS FROM (jsonb_to_recordset(p_reserves) AS (id uuid, at timestamptz, is_extension boolean))
    WITH ORDINALITY AS q(id, at, is_extension, place)
  LEFT JOIN LATERAL (SELECT r.id, r.is_withdrawn FROM usage_reservations r WHERE r.id = q.id LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT e.id FROM usage_events e WHERE e.id = q.id AND e.at = q.at LIMIT 1) e ON true;

  FOR v_r IN 1 .. cardinality(p_starts) - 1 LOOP
    v_outcome := 0;
    -- An extension asks for what is missing up to its new totals, where the reservation is counted at all.
    IF r_extends[v_r] THEN
      SELECT bucket_ids, amounts INTO h_ids, h_amounts FROM usage_reservations WHERE id = r_id[v_r] AND NOT is_withdrawn;
      r_known[v_r] := NOT FOUND;
      FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
        c_held[v_c] := h_amounts[array_position(h_ids, b_id[p_charge_buckets[v_c]])];
        p_charge_amounts[v_c] := GREATEST(p_charge_amounts[v_c] - COALESCE(c_held[v_c], p_charge_amounts[v_c]), 0);
      END LOOP;
    END IF;

    -- Judge: does it fit into each of its buckets? What costs nothing fits into every limit.
    FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
      v_b := p_charge_buckets[v_c];
      v_left := p_charge_limits[v_c] - b_used[v_b] - COALESCE(c_held[v_c], 0);
      v_verdict := CASE
        WHEN r_known[v_r] THEN 0
        WHEN b_id[v_b] IS NULL AND b_unit[v_b] = 'cost' AND p_charge_amounts[v_c] = 0 THEN 0
        WHEN p_charge_enforced[v_c] AND p_charge_amounts[v_c] > 0 AND p_charge_amounts[v_c] > v_left THEN 3
        WHEN b_id[v_b] IS NULL AND NOT r_extends[v_r] AND g_last[b_group[v_b]] >= p_max_buckets THEN 2
        WHEN p_charge_enforced[v_c] AND p_charge_amounts[v_c] > 0
          AND p_charge_amounts[v_c] > v_left - (b_reserved[v_b] - COALESCE(c_held[v_c], 0)) THEN 1
        ELSE 0 END;
      o_verdicts[v_c] := v_verdict;
      -- Something is used and no more fits: the bucket is exhausted. The first refusal notes it, and no other. A call that
      -- the whole limit has no room for says nothing about a bucket that has not reached it.
      IF v_verdict = 3 AND p_charge_limits[v_c] = b_limit[v_b]
        AND (p_charge_amounts[v_c] <= p_charge_limits[v_c] OR v_left <= 0) THEN
        v_exhausted := v_exhausted || v_b;
        b_limit[v_b] := NULL;
      END IF;
      -- A policy that only watches refuses nothing; a bucket too many is not counted.
      IF p_charge_enforced[v_c] AND v_verdict > v_outcome THEN
        v_outcome := v_verdict;
      END IF;
    END LOOP;
    IF r_extends[v_r] THEN
      v_outcome := CASE WHEN r_known[v_r] THEN 5 ELSE v_outcome END;
    ELSIF r_withdrawn[v_r] THEN
      v_outcome := 4;
    ELSIF v_outcome = 0 AND NOT r_known[v_r] THEN
      v_new := v_new + 1;
    END IF;
    o_outcomes[v_r] := v_outcome;

    -- Reserve: in all of its buckets or in none. What costs nothing makes no bucket that counts costs.
    FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
      v_b := p_charge_buckets[v_c];
      IF v_outcome = 0 AND o_verdicts[v_c] = 0 AND NOT r_known[v_r] AND (b_id[v_b] IS NOT NULL
        OR NOT r_extends[v_r] AND (p_charge_amounts[v_c] > 0 OR b_unit[v_b] <> 'cost')) THEN
        -- A counter that is full takes no more. The reservation remembers what it holds, and gives back no more than that.
        IF p_charge_amounts[v_c] > c_most - b_reserved[v_b] THEN
          p_charge_amounts[v_c] := GREATEST(c_most - b_reserved[v_b], 0);
        END IF;
        b_reserved[v_b] := b_reserved[v_b] + p_charge_amounts[v_c];
        b_added[v_b] := COALESCE(b_added[v_b], 0) + p_charge_amounts[v_c];
        IF b_id[v_b] IS NULL THEN
          b_id[v_b] := gen_random_uuid();
          g_last[b_group[v_b]] := g_last[b_group[v_b]] + 1;
          b_ordinal[v_b] := g_last[b_group[v_b]];
        END IF;
        IF r_extends[v_r] THEN
          v_place := array_position(h_ids, b_id[v_b]);
          IF v_place IS NOT NULL THEN
            h_amounts[v_place] := h_amounts[v_place] + p_charge_amounts[v_c];
          END IF;
        END IF;
      END IF;
      o_used[v_c] := b_used[v_b];
      o_reserved[v_c] := b_reserved[v_b];
    END LOOP;
    -- The lease gets longer also where the bound stays as it was.
    IF r_extends[v_r] AND v_outcome <> 5 THEN
      UPDATE usage_reservations r
      SET expires_at = GREATEST(r.expires_at, q.expires_at), amounts = CASE v_outcome WHEN 0 THEN h_amounts ELSE r.amounts END,
        cost_nano = CASE v_outcome WHEN 0 THEN q.cost_nano ELSE r.cost_nano END,
        tokens = CASE v_outcome WHEN 0 THEN q.tokens ELSE r.tokens END,
        quantities = CASE v_outcome WHEN 0 THEN q.quantities ELSE r.quantities END
      FROM jsonb_to_record(p_reserves -> (v_r - 1)) AS q(expires_at timestamptz, cost_nano bigint, tokens bigint,
        quantities jsonb)
      WHERE r.id = r_id[v_r];
    END IF;
  END LOOP;
  FOR v_b IN 1 .. v_count LOOP
    IF b_needed[v_b] AND b_id[v_b] IS NULL THEN
      b_id[v_b] := gen_random_uuid();
      g_last[b_group[v_b]] := g_last[b_group[v_b]] + 1;
      b_ordinal[v_b] := g_last[b_group[v_b]];
    END IF;
  END LOOP;

  -- 5. Write what was reserved: new buckets, counters, marks of exhausted buckets, reservations.
  IF b_ordinal <> '{}' THEN
    INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, workspace_id,
      value_key, unit, reserved, credit_limit, alert_threshold, resets_at)
    SELECT k.policy_id, k.bucket_hash, k.window_id, b_id[k.place], b_ordinal[k.place], k.organisation_id,
      k.workspace_id, k.value_key, k.unit, COALESCE(b_added[k.place], 0), k.credit_limit, k.alert_threshold, k.resets_at
    FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, bucket_hash varchar(22), window_id varchar(16),
      organisation_id uuid, workspace_id uuid, value_key varchar(2048), unit varchar(8), credit_limit bigint,
      alert_threshold bigint, resets_at timestamptz))
      WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, organisation_id, workspace_id, value_key, unit,
        credit_limit, alert_threshold, resets_at, place)
    WHERE b_ordinal[k.place] IS NOT NULL;
    PERFORM usage_warn_of_groups(p_buckets, b_ordinal, p_max_buckets);
  END IF;
  IF b_added <> '{}' THEN
    UPDATE usage_buckets b
    SET reserved = b.reserved + b_added[k.place], credit_limit = k.credit_limit, alert_threshold = k.alert_threshold,
      threshold_reached_at = CASE WHEN k.alert_threshold <= b.alert_threshold THEN b.threshold_reached_at END,
      exhausted_at = CASE WHEN k.credit_limit <= b.credit_limit THEN b.exhausted_at END,
      updated_at = now()
    FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (credit_limit bigint, alert_threshold bigint))
      WITH ORDINALITY AS k(credit_limit, alert_threshold, place)
    WHERE b.id = b_id[k.place] AND b_added[k.place] IS NOT NULL AND b_ordinal[k.place] IS NULL;
  END IF;
  IF v_exhausted <> '{}' THEN
    PERFORM usage_set_lines(array_agg(b_id[k.place]), array_agg(k.credit_limit), array_agg(k.alert_threshold), true)
    FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (credit_limit bigint, alert_threshold bigint))
      WITH ORDINALITY AS k(credit_limit, alert_threshold, place)
    WHERE k.place = ANY (v_exhausted);
  END IF;
  IF v_new > 0 THEN
    INSERT INTO usage_reservations (id, at, expires_at, organisation_id, workspace_id, api_key_id, virtual_key, provider,
      model, endpoint, mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, mode, tier,
      price_ids, bucket_ids, units, amounts)
    SELECT q.id, q.at, q.expires_at, q.organisation_id, q.workspace_id, q.api_key_id, q.virtual_key, q.provider,
      q.model, q.endpoint, q.mcp_server, q.mcp_tool, q.metadata, q.trace_id, q.attempt, q.cost_nano, q.tokens,
      q.quantities, q.mode, q.tier, q.price_ids, c.ids, c.units, c.amounts
    FROM ROWS FROM (jsonb_to_recordset(p_reserves) AS (id uuid, at timestamptz, expires_at timestamptz,
      organisation_id uuid, workspace_id uuid, api_key_id varchar(255), virtual_key varchar(255), provider varchar(64),
      model varchar(255), endpoint varchar(64), mcp_server varchar(255), mcp_tool varchar(255), metadata jsonb,
      trace_id varchar(128), attempt integer, cost_nano bigint, tokens bigint, quantities jsonb, mode varchar(16),
      tier integer, price_ids uuid[]))
      WITH ORDINALITY AS q(id, at, expires_at, organisation_id, workspace_id, api_key_id, virtual_key, provider, model,
        endpoint, mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, mode, tier, price_ids,
        place)
    CROSS JOIN LATERAL (
      SELECT COALESCE(array_agg(b_id[c.bucket] ORDER BY c.place), '{}') AS ids,
        COALESCE(array_agg(b_unit[c.bucket] ORDER BY c.place), '{}') AS units,
        COALESCE(array_agg(c.amount ORDER BY c.place), '{}') AS amounts
      FROM unnest(
        p_charge_buckets[p_starts[q.place] : p_starts[q.place + 1] - 1],
        p_charge_amounts[p_starts[q.place] : p_starts[q.place + 1] - 1],
        o_verdicts[p_starts[q.place] : p_starts[q.place + 1] - 1]
      ) WITH ORDINALITY AS c(bucket, amount, verdict, place)
      WHERE c.verdict = 0 AND b_id[c.bucket] IS NOT NULL
    ) c
    WHERE o_outcomes[q.place] = 0 AND NOT r_known[q.place] AND NOT r_extends[q.place]
    ORDER BY q.id ON CONFLICT DO NOTHING;
    -- Another statement wrote or withdrew one of them since the look-up: roll all of this back.
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written < v_new THEN
      RAISE EXCEPTION '%', c_changed USING ERRCODE = '40001';
    END IF;
  END IF;

  -- 6. Record what was not reserved, or no longer is.
  IF p_records <> '[]' THEN
    WITH noted AS (
      INSERT INTO usage_events (id, at, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint,
        mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, source, outcome, mode, tier,
        price_ids, first_token_ms, bucket_ids, amounts)
      SELECT id, at, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint,
        mcp_server, mcp_tool, metadata, trace_id, attempt, cost_nano, tokens, quantities, source, outcome, mode, tier,
        price_ids, first_token_ms,
        ARRAY(SELECT b_id[u.bucket] FROM unnest(q.buckets) WITH ORDINALITY AS u(bucket, place) ORDER BY u.place),
        q.amounts
      FROM jsonb_to_recordset(p_records) AS q(id uuid, at timestamptz, organisation_id uuid, workspace_id uuid,
        api_key_id varchar(255), virtual_key varchar(255), provider varchar(64), model varchar(255), endpoint varchar(64),
        mcp_server varchar(255), mcp_tool varchar(255), metadata jsonb, trace_id varchar(128), attempt integer,
        cost_nano bigint, tokens bigint, quantities jsonb, source varchar(16), outcome varchar(16), mode varchar(16),
        tier integer, price_ids uuid[], first_token_ms integer, buckets integer[], amounts bigint[])
      ORDER BY id ON CONFLICT DO NOTHING RETURNING bucket_ids, amounts
    )
    SELECT array_agg(c.bucket_id), array_agg(c.amount), array_agg(0) INTO v_more, v_spent, v_held
    FROM noted n, unnest(n.bucket_ids, n.amounts) AS c(bucket_id, amount);
    IF v_more IS NOT NULL THEN
      PERFORM usage_apply(v_more, v_spent, v_held);
    END IF;
  END IF;

  -- 7. A call that came to nothing leaves no bucket behind that was made for it.
  IF v_emptied <> '{}' THEN
    PERFORM usage_drop_empty(v_emptied);
  END IF;
END $$;
