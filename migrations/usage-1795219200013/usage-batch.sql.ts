import { FIGURE_TYPES, FIGURES, NAMES, TYPES } from './facts.sql.js';
import { admit, FIRST_RULES } from './usage-admission.sql.js';
import { FIND_BUCKETS } from './usage-lookup.sql.js';
import { FIND_SETTLED, SETTLE } from './usage-settlement.sql.js';

/**
 * Everything that a gateway has waiting for its counters, in one transaction: settlements first, then admissions in order.
 *
 * Locks are taken in one order by everyone, so that nobody waits in a circle: reservations by id, ledger rows by id, the
 * right to make buckets of a policy, buckets by id. Index look-ups are forced: a plan that was made while a table was small
 * must not read it from end to end once it is large. They look dear on paper, and compiling them (JIT) would cost far more.
 *
 * p_buckets  what is charged, each bucket once; other parameters name them by their place here, from 1
 * p_reserves with their charges in p_charge_*: those of the nth are from p_starts[n] to before p_starts[n + 1]
 * p_settles  status settled, presumed or released (nothing was sent); is_final: it was told to be refused, but may yet arrive
 * p_records  usage without a reservation: not limited, or of a reservation that got lost
 * o_outcomes of p_reserves: 0 admitted, 1 contended, 2 crowded, 3 exceeded, 4 was released before; o_verdicts,
 *            o_used, o_reserved of the charges
 * o_lost     settlements of which nothing is known
 */
export const usageBatch = (admission: string): string => `
  CREATE OR REPLACE FUNCTION usage_batch(
    p_buckets jsonb, p_reserves jsonb, p_starts integer[], p_charge_buckets integer[], p_charge_amounts bigint[],
    p_charge_limits bigint[], p_charge_enforced boolean[], p_settles jsonb, p_records jsonb, p_extends jsonb,
    p_max_buckets integer,
    OUT o_outcomes smallint[], OUT o_verdicts smallint[], OUT o_used bigint[], OUT o_reserved bigint[], OUT o_lost uuid[]
  ) LANGUAGE plpgsql
  SET lock_timeout = '1s' SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    v_ids uuid[];
    v_final uuid[];
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
    -- Its limit, if a refusal by it is to be noted.
    b_limit bigint[];
    b_ordinal integer[] := '{}';
    b_added bigint[] := '{}';
    g_last integer[];
    v_known boolean[];
    v_withdrawn boolean[];
    v_new integer := 0;
    v_written integer;
    v_exhausted integer[] := '{}';
    v_count integer := jsonb_array_length(p_buckets);
    v_outcome smallint;
    v_verdict smallint;
    v_b integer;
    v_left bigint;
  BEGIN${FIND_SETTLED}

    -- Buckets. Where one is missing, nobody else may make buckets of that policy until this is over.
    IF v_count > 0 THEN
      ${FIND_BUCKETS};
      IF array_position(b_id, NULL) IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(7160235, p.lock)
        FROM (
          SELECT DISTINCT hashtext(k.policy_id::text) AS lock
          FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid)) WITH ORDINALITY AS k(policy_id, place)
          WHERE b_id[k.place] IS NULL ORDER BY 1
        ) p;
        ${FIND_BUCKETS};
      END IF;
    END IF;
    PERFORM FROM usage_buckets b WHERE b.id = ANY (v_touched || b_id) ORDER BY b.id FOR UPDATE;
${SETTLE}

    IF p_extends <> '[]' THEN
      UPDATE usage_reservations r SET expires_at = GREATEST(r.expires_at, x.expires_at)
      FROM (
        SELECT r.id, x.expires_at FROM jsonb_to_recordset(p_extends) AS x(id uuid, expires_at timestamptz)
        JOIN usage_reservations r ON r.id = x.id ORDER BY r.id FOR UPDATE OF r SKIP LOCKED
      ) x WHERE r.id = x.id;
    END IF;
${admission}

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

export const USAGE_BATCH = usageBatch(admit(FIRST_RULES));
