/** Columns that a reservation and the ledger share; `FACTS` with their types, as they come in JSON. */
const NAMES = `organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server, mcp_tool,
        metadata, trace_id, attempt`;
const TYPES = `organisation_id uuid, workspace_id uuid, api_key_id varchar(255), virtual_key varchar(255),
        provider varchar(64), model varchar(255), endpoint varchar(64), mcp_server varchar(255), mcp_tool varchar(255),
        metadata jsonb, trace_id varchar(128), attempt integer`;
const FIGURES = `cost_nano, tokens, search_units, source, price_id`;
const FIGURE_TYPES = `cost_nano bigint, tokens bigint, search_units bigint, source varchar(16), price_id uuid`;
const KEY = `policy_id uuid, bucket_hash varchar(22), window_id varchar(16)`;

/**
 * Everything that a gateway has waiting for its counters, in one transaction: settlements first, then admissions in order.
 *
 * Locks are taken in one order by everyone, so that nobody waits in a circle: reservations by id, ledger rows by id, the
 * right to make buckets of a policy, buckets by id. Index look-ups are forced: a plan that was made while a table was small
 * must not read it from end to end once it is large.
 *
 * p_buckets  what is charged, each bucket once; other parameters name them by their place here, from 1
 * p_reserves with their charges in p_charge_*: those of the nth are from p_starts[n] to before p_starts[n + 1]
 * p_settles  status settled, presumed or released (nothing was sent)
 * p_records  usage without a reservation: not limited, or of a reservation that got lost
 * o_outcomes of p_reserves: 0 admitted, 1 contended, 2 crowded, 3 exceeded; o_verdicts, o_used, o_reserved of the charges
 * o_lost     settlements of which nothing is known
 */
export const USAGE_BATCH = `
  CREATE FUNCTION usage_batch(
    p_buckets jsonb, p_reserves jsonb, p_starts integer[], p_charge_buckets integer[], p_charge_amounts bigint[],
    p_charge_limits bigint[], p_charge_enforced boolean[], p_settles jsonb, p_records jsonb, p_extends jsonb,
    p_max_buckets integer,
    OUT o_outcomes smallint[], OUT o_verdicts smallint[], OUT o_used bigint[], OUT o_reserved bigint[], OUT o_lost uuid[]
  ) LANGUAGE plpgsql
  SET lock_timeout = '1s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    v_ids uuid[];
    v_found uuid[] := '{}';
    v_late uuid[] := '{}';
    v_touched uuid[] := '{}';
    v_more uuid[];
    v_spent bigint[];
    v_held bigint[];
    -- Of p_buckets, by their place. The id is null while there is no row; the group is policy and window.
    b_id uuid[] := '{}';
    b_unit text[];
    b_used bigint[];
    b_reserved bigint[];
    b_group integer[];
    b_needed boolean[];
    b_ordinal integer[] := '{}';
    b_added bigint[] := '{}';
    g_last integer[];
    v_known boolean[];
    v_count integer := jsonb_array_length(p_buckets);
    v_outcome smallint;
    v_verdict smallint;
    v_b integer;
    v_left bigint;
  BEGIN
    -- Reservations to settle.
    IF p_settles <> '[]' THEN
      SELECT array_agg(s.id) INTO v_ids FROM jsonb_to_recordset(p_settles) AS s(id uuid);
      SELECT COALESCE(array_agg(DISTINCT r.id), '{}'),
        COALESCE(array_agg(DISTINCT c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
      INTO v_found, v_touched
      FROM (
        SELECT r.id, r.bucket_ids FROM usage_reservations r WHERE r.id = ANY (v_ids) ORDER BY r.id FOR UPDATE
      ) r LEFT JOIN LATERAL unnest(r.bucket_ids) AS c(id) ON true;

      -- The others were settled before, presumed spent before (the truth comes late), or got lost.
      IF cardinality(v_found) < cardinality(v_ids) THEN
        SELECT COALESCE(array_agg(DISTINCT e.id), '{}'),
          COALESCE(array_agg(DISTINCT c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
        INTO v_late, v_more
        FROM (
          SELECT e.id, e.bucket_ids
          FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, status text)
          JOIN usage_events e ON e.id = s.id AND e.at = s.at
          WHERE s.id <> ALL (v_found) AND s.status <> 'presumed' AND e.status = 'presumed'
          ORDER BY e.id FOR UPDATE OF e
        ) e LEFT JOIN LATERAL unnest(e.bucket_ids) AS c(id) ON true;
        v_touched := v_touched || v_more;
        SELECT array_agg(s.id) INTO o_lost
        FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, status text)
        WHERE s.id <> ALL (v_found) AND s.status <> 'released'
          AND NOT EXISTS (SELECT FROM usage_events e WHERE e.id = s.id AND e.at = s.at);
      END IF;
    END IF;

    -- Buckets. Where one is missing, nobody else may make buckets of that policy until this is over.
    IF v_count > 0 THEN
      SELECT array_agg(b.id ORDER BY k.place) INTO b_id
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (${KEY})) WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, place)
      LEFT JOIN usage_buckets b USING (policy_id, bucket_hash, window_id);
      IF array_position(b_id, NULL) IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(7160235, p.lock)
        FROM (
          SELECT DISTINCT hashtext(k.policy_id::text) AS lock
          FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid)) WITH ORDINALITY AS k(policy_id, place)
          WHERE b_id[k.place] IS NULL ORDER BY 1
        ) p;
        SELECT array_agg(b.id ORDER BY k.place) INTO b_id
        FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (${KEY})) WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, place)
        LEFT JOIN usage_buckets b USING (policy_id, bucket_hash, window_id);
      END IF;
    END IF;
    PERFORM FROM usage_buckets b WHERE b.id = ANY (v_touched || b_id) ORDER BY b.id FOR UPDATE;

    -- From reserved to used, and into the ledger.
    IF v_found <> '{}' THEN
      WITH gone AS (
        DELETE FROM usage_reservations r
        USING jsonb_to_recordset(p_settles) AS s(id uuid, status text, ${FIGURE_TYPES})
        WHERE r.id = s.id
        RETURNING r.id, r.at, s.status, r.organisation_id, r.workspace_id, r.api_key_id, r.virtual_key, r.provider,
          r.model, r.endpoint, r.mcp_server, r.mcp_tool, r.metadata, r.trace_id, r.attempt,
          s.cost_nano, s.tokens, s.search_units, s.source, s.price_id, r.bucket_ids, r.amounts AS held,
          ARRAY(
            SELECT CASE WHEN s.status = 'released' THEN 0 WHEN u.unit = 'cost' THEN s.cost_nano ELSE s.tokens END
            FROM unnest(r.units) WITH ORDINALITY AS u(unit, place) ORDER BY u.place
          ) AS amounts
      ), noted AS (
        INSERT INTO usage_events (id, at, status, ${NAMES}, ${FIGURES}, bucket_ids, amounts)
        SELECT id, at, status, ${NAMES}, ${FIGURES}, bucket_ids, amounts
        FROM gone WHERE status <> 'released' ORDER BY id
        ON CONFLICT DO NOTHING RETURNING id
      )
      SELECT array_agg(c.bucket_id), array_agg(CASE WHEN g.id IN (SELECT id FROM noted) THEN c.amount ELSE 0 END),
        array_agg(-c.held)
      INTO v_more, v_spent, v_held
      FROM gone g, unnest(g.bucket_ids, g.amounts, g.held) AS c(bucket_id, amount, held);
      PERFORM usage_apply(v_more, v_spent, v_held);
    END IF;

    -- The truth about what was presumed. What lies before a reset is not taken from what came after it.
    IF v_late <> '{}' THEN
      WITH truth AS (
        SELECT e.id, e.at, s.status, s.cost_nano, s.tokens, s.search_units, s.source, s.price_id, e.bucket_ids,
          e.amounts AS presumed, e.charged_at,
          ARRAY(
            SELECT CASE WHEN s.status = 'released' THEN 0 WHEN b.unit = 'cost' THEN s.cost_nano ELSE s.tokens END
            FROM unnest(e.bucket_ids) WITH ORDINALITY AS c(id, place) JOIN usage_buckets b ON b.id = c.id ORDER BY c.place
          ) AS amounts
        FROM jsonb_to_recordset(p_settles) AS s(id uuid, at timestamptz, status text, ${FIGURE_TYPES})
        JOIN usage_events e ON e.id = s.id AND e.at = s.at WHERE e.id = ANY (v_late)
      ), corrected AS (
        UPDATE usage_events e
        SET status = t.status, cost_nano = t.cost_nano, tokens = t.tokens, search_units = t.search_units,
          source = t.source, price_id = t.price_id, amounts = t.amounts
        FROM truth t WHERE e.id = t.id AND e.at = t.at AND t.status <> 'released'
      ), taken_back AS (
        DELETE FROM usage_events e USING truth t WHERE e.id = t.id AND e.at = t.at AND t.status = 'released'
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

    IF p_extends <> '[]' THEN
      UPDATE usage_reservations r SET expires_at = GREATEST(r.expires_at, x.expires_at)
      FROM (
        SELECT r.id, x.expires_at FROM jsonb_to_recordset(p_extends) AS x(id uuid, expires_at timestamptz)
        JOIN usage_reservations r ON r.id = x.id ORDER BY r.id FOR UPDATE OF r SKIP LOCKED
      ) x WHERE r.id = x.id;
    END IF;

    -- Admission.
    SELECT array_agg(k.unit ORDER BY k.place), array_agg(COALESCE(b.used, 0) ORDER BY k.place),
      array_agg(COALESCE(b.reserved, 0) ORDER BY k.place), array_agg(k.is_needed ORDER BY k.place),
      array_agg(k.group_no ORDER BY k.place)
    INTO b_unit, b_used, b_reserved, b_needed, b_group
    FROM (
      SELECT *, dense_rank() OVER (ORDER BY policy_id, window_id)::integer AS group_no
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, window_id varchar(16), unit text, is_needed boolean))
        WITH ORDINALITY AS k(policy_id, window_id, unit, is_needed, place)
    ) k LEFT JOIN usage_buckets b ON b.id = b_id[k.place];
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
    -- Known ids were sent before, and the answer did not arrive.
    SELECT array_agg(r.id IS NOT NULL OR e.id IS NOT NULL ORDER BY q.place) INTO v_known
    FROM ROWS FROM (jsonb_to_recordset(p_reserves) AS (id uuid, at timestamptz)) WITH ORDINALITY AS q(id, at, place)
    LEFT JOIN LATERAL (SELECT r.id FROM usage_reservations r WHERE r.id = q.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT e.id FROM usage_events e WHERE e.id = q.id AND e.at = q.at LIMIT 1) e ON true;

    FOR v_r IN 1 .. cardinality(p_starts) - 1 LOOP
      v_outcome := 0;
      FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
        v_b := p_charge_buckets[v_c];
        v_left := p_charge_limits[v_c] - b_used[v_b];
        v_verdict := CASE
          WHEN v_known[v_r] THEN 0
          WHEN p_charge_enforced[v_c] AND p_charge_amounts[v_c] > v_left THEN 3
          WHEN b_id[v_b] IS NULL AND g_last[b_group[v_b]] >= p_max_buckets THEN 2
          WHEN p_charge_enforced[v_c] AND p_charge_amounts[v_c] > v_left - b_reserved[v_b] THEN 1
          ELSE 0 END;
        o_verdicts[v_c] := v_verdict;
        -- A policy that only watches refuses nobody; a bucket too many is not counted.
        IF p_charge_enforced[v_c] AND v_verdict > v_outcome THEN
          v_outcome := v_verdict;
        END IF;
      END LOOP;
      o_outcomes[v_r] := v_outcome;
      FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
        v_b := p_charge_buckets[v_c];
        IF v_outcome = 0 AND o_verdicts[v_c] = 0 AND NOT v_known[v_r] THEN
          b_reserved[v_b] := b_reserved[v_b] + p_charge_amounts[v_c];
          b_added[v_b] := COALESCE(b_added[v_b], 0) + p_charge_amounts[v_c];
          IF b_id[v_b] IS NULL THEN
            b_id[v_b] := gen_random_uuid();
            g_last[b_group[v_b]] := g_last[b_group[v_b]] + 1;
            b_ordinal[v_b] := g_last[b_group[v_b]];
          END IF;
        END IF;
        o_used[v_c] := b_used[v_b];
        o_reserved[v_c] := b_reserved[v_b];
      END LOOP;
    END LOOP;
    FOR v_b IN 1 .. v_count LOOP
      IF b_needed[v_b] AND b_id[v_b] IS NULL THEN
        b_id[v_b] := gen_random_uuid();
        g_last[b_group[v_b]] := g_last[b_group[v_b]] + 1;
        b_ordinal[v_b] := g_last[b_group[v_b]];
      END IF;
    END LOOP;

    IF b_ordinal <> '{}' THEN
      INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, workspace_id,
        value_key, unit, reserved, credit_limit, alert_threshold, resets_at)
      SELECT k.policy_id, k.bucket_hash, k.window_id, b_id[k.place], b_ordinal[k.place], k.organisation_id,
        k.workspace_id, k.value_key, k.unit, COALESCE(b_added[k.place], 0), k.credit_limit, k.alert_threshold, k.resets_at
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (${KEY}, organisation_id uuid, workspace_id uuid,
        value_key varchar(2048), unit varchar(8), credit_limit bigint, alert_threshold bigint, resets_at timestamptz))
        WITH ORDINALITY AS k(policy_id, bucket_hash, window_id, organisation_id, workspace_id, value_key, unit,
          credit_limit, alert_threshold, resets_at, place)
      WHERE b_ordinal[k.place] IS NOT NULL;
    END IF;
    IF b_added <> '{}' THEN
      UPDATE usage_buckets b
      SET reserved = b.reserved + b_added[k.place], credit_limit = k.credit_limit, alert_threshold = k.alert_threshold,
        updated_at = now()
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (credit_limit bigint, alert_threshold bigint))
        WITH ORDINALITY AS k(credit_limit, alert_threshold, place)
      WHERE b.id = b_id[k.place] AND b_added[k.place] IS NOT NULL AND b_ordinal[k.place] IS NULL;
    END IF;
    IF 0 = ANY (o_outcomes) THEN
      INSERT INTO usage_reservations (id, at, expires_at, ${NAMES}, ${FIGURES}, bucket_ids, units, amounts)
      SELECT id, at, expires_at, ${NAMES}, ${FIGURES}, c.ids, c.units, c.amounts
      FROM ROWS FROM (jsonb_to_recordset(p_reserves) AS (id uuid, at timestamptz, expires_at timestamptz,
        ${TYPES}, ${FIGURE_TYPES}))
        WITH ORDINALITY AS q(id, at, expires_at, ${NAMES}, ${FIGURES}, place)
      CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(b_id[c.bucket] ORDER BY c.place), '{}') AS ids,
          COALESCE(array_agg(b_unit[c.bucket] ORDER BY c.place), '{}') AS units,
          COALESCE(array_agg(c.amount ORDER BY c.place), '{}') AS amounts
        FROM unnest(
          p_charge_buckets[p_starts[q.place] : p_starts[q.place + 1] - 1],
          p_charge_amounts[p_starts[q.place] : p_starts[q.place + 1] - 1],
          o_verdicts[p_starts[q.place] : p_starts[q.place + 1] - 1]
        ) WITH ORDINALITY AS c(bucket, amount, verdict, place)
        WHERE c.verdict = 0
      ) c
      WHERE o_outcomes[q.place] = 0 AND NOT v_known[q.place]
      ORDER BY id ON CONFLICT DO NOTHING;
    END IF;

    -- What was not reserved, or no longer is.
    IF p_records <> '[]' THEN
      WITH noted AS (
        INSERT INTO usage_events (id, at, status, ${NAMES}, ${FIGURES}, bucket_ids, amounts)
        SELECT id, at, status, ${NAMES}, ${FIGURES},
          ARRAY(SELECT b_id[u.bucket] FROM unnest(q.buckets) WITH ORDINALITY AS u(bucket, place) ORDER BY u.place),
          q.amounts
        FROM jsonb_to_recordset(p_records) AS q(id uuid, at timestamptz, status text, ${TYPES}, ${FIGURE_TYPES},
          buckets integer[], amounts bigint[])
        ORDER BY id ON CONFLICT DO NOTHING RETURNING bucket_ids, amounts
      )
      SELECT array_agg(c.bucket_id), array_agg(c.amount), array_agg(0) INTO v_more, v_spent, v_held
      FROM noted n, unnest(n.bucket_ids, n.amounts) AS c(bucket_id, amount);
      IF v_more IS NOT NULL THEN
        PERFORM usage_apply(v_more, v_spent, v_held);
      END IF;
    END IF;
  END $$`;
