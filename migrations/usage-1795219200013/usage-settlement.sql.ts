import { FIGURE_TYPES, FIGURES, NAMES } from './facts.sql.js';
import { RAISE_CHANGED, withdraw } from './usage-withdrawal.sql.js';

/** Locks what the batch settles, and finds out which buckets that touches. */
export const FIND_SETTLED = `
    -- Reservations to settle.
    IF p_settles <> '[]' THEN
      SELECT array_agg(s.id), array_agg(s.id) FILTER (WHERE s.is_final) INTO v_ids, v_final
      FROM jsonb_to_recordset(p_settles) AS s(id uuid, is_final boolean);
      SELECT COALESCE(array_agg(DISTINCT r.id), '{}'),
        COALESCE(array_agg(DISTINCT c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
      INTO v_found, v_touched
      FROM (
        SELECT r.id, r.bucket_ids FROM usage_reservations r WHERE r.id = ANY (v_ids) AND NOT r.is_withdrawn
        ORDER BY r.id FOR UPDATE
      ) r LEFT JOIN LATERAL unnest(r.bucket_ids) AS c(id) ON true;

      -- The others were settled before, presumed spent before (the truth comes late), or got lost.
      IF cardinality(v_found) < cardinality(v_ids) THEN
        ${withdraw(`s.id <> ALL (v_found)
          AND (s.is_final OR NOT EXISTS (SELECT FROM usage_events e WHERE e.id = s.id AND e.at = s.at))`)};
        IF EXISTS (
          SELECT FROM usage_reservations r WHERE r.id = ANY (v_ids) AND r.id <> ALL (v_found) AND NOT r.is_withdrawn
        ) THEN
          ${RAISE_CHANGED};
        END IF;
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
    END IF;`;

/** Moves what was found to what was used, in counters and ledger. */
export const SETTLE = `
    -- From reserved to used, and into the ledger.
    IF v_found <> '{}' THEN
      WITH gone AS (
        DELETE FROM usage_reservations r
        USING jsonb_to_recordset(p_settles) AS s(id uuid, status text, ${FIGURE_TYPES})
        WHERE r.id = s.id AND NOT r.is_withdrawn
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
      IF v_final && v_found THEN
        ${withdraw(`s.id = ANY (v_final) AND s.id = ANY (v_found)`)};
      END IF;
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
    END IF;`;
