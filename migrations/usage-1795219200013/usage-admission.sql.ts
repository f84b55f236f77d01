import { FIGURE_TYPES, FIGURES, NAMES, TYPES } from './facts.sql.js';
import { KEY } from './usage-lookup.sql.js';
import { RAISE_CHANGED } from './usage-withdrawal.sql.js';

/** What later versions decide otherwise. */
interface AdmissionRules {
  /** What is done with an amount before it is reserved. */
  readonly bound: string;
  /** Which charges a limit is asked about. */
  readonly isLimited: string;
  /** Whether a refusal says something about the bucket, and not about the call alone. */
  readonly isTelling: string;
}

export const FIRST_RULES: AdmissionRules = {
  bound: '',
  isLimited: 'p_charge_enforced[v_c]',
  isTelling: 'p_charge_amounts[v_c] <= p_charge_limits[v_c]',
};

/** Decides about the batch's reservations one after the other, and writes those that are admitted. */
export const admit = ({ bound, isLimited, isTelling }: AdmissionRules): string => `
    -- Admission.
    SELECT array_agg(k.unit ORDER BY k.place), array_agg(COALESCE(b.used, 0) ORDER BY k.place),
      array_agg(COALESCE(b.reserved, 0) ORDER BY k.place), array_agg(k.is_needed ORDER BY k.place),
      array_agg(k.group_no ORDER BY k.place), array_agg(
        CASE WHEN b.used > 0 AND (b.exhausted_at IS NULL OR b.credit_limit < k.credit_limit) THEN k.credit_limit END
        ORDER BY k.place)
    INTO b_unit, b_used, b_reserved, b_needed, b_group, b_limit
    FROM (
      SELECT *, dense_rank() OVER (ORDER BY policy_id, window_id)::integer AS group_no
      FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, window_id varchar(16), unit text, is_needed boolean,
        credit_limit bigint)) WITH ORDINALITY AS k(policy_id, window_id, unit, is_needed, credit_limit, place)
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
    SELECT array_agg(r.id IS NOT NULL OR e.id IS NOT NULL ORDER BY q.place),
      array_agg(COALESCE(r.is_withdrawn, false) ORDER BY q.place)
    INTO v_known, v_withdrawn
    FROM ROWS FROM (jsonb_to_recordset(p_reserves) AS (id uuid, at timestamptz)) WITH ORDINALITY AS q(id, at, place)
    LEFT JOIN LATERAL (SELECT r.id, r.is_withdrawn FROM usage_reservations r WHERE r.id = q.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT e.id FROM usage_events e WHERE e.id = q.id AND e.at = q.at LIMIT 1) e ON true;

    FOR v_r IN 1 .. cardinality(p_starts) - 1 LOOP
      v_outcome := 0;
      FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
        v_b := p_charge_buckets[v_c];
        v_left := p_charge_limits[v_c] - b_used[v_b];
        v_verdict := CASE
          WHEN v_known[v_r] THEN 0
          WHEN ${isLimited} AND p_charge_amounts[v_c] > v_left THEN 3
          WHEN b_id[v_b] IS NULL AND g_last[b_group[v_b]] >= p_max_buckets THEN 2
          WHEN ${isLimited} AND p_charge_amounts[v_c] > v_left - b_reserved[v_b] THEN 1
          ELSE 0 END;
        o_verdicts[v_c] := v_verdict;
        -- Something is used and no more fits: the bucket is exhausted. The first refusal notes it, and no other. A call that
        -- the whole limit has no room for says nothing about the bucket.
        IF v_verdict = 3 AND p_charge_limits[v_c] = b_limit[v_b] AND ${isTelling} THEN
          v_exhausted := v_exhausted || v_b;
          b_limit[v_b] := NULL;
        END IF;
        -- A policy that only watches refuses nobody; a bucket too many is not counted.
        IF p_charge_enforced[v_c] AND v_verdict > v_outcome THEN
          v_outcome := v_verdict;
        END IF;
      END LOOP;
      IF v_withdrawn[v_r] THEN
        v_outcome := 4;
      ELSIF v_outcome = 0 AND NOT v_known[v_r] THEN
        v_new := v_new + 1;
      END IF;
      o_outcomes[v_r] := v_outcome;
      FOR v_c IN p_starts[v_r] .. p_starts[v_r + 1] - 1 LOOP
        v_b := p_charge_buckets[v_c];
        IF v_outcome = 0 AND o_verdicts[v_c] = 0 AND NOT v_known[v_r] THEN${bound}
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
      -- Somebody else wrote one of them, or took it back, since they were looked for: nothing of this may stay.
      GET DIAGNOSTICS v_written = ROW_COUNT;
      IF v_written < v_new THEN
        ${RAISE_CHANGED};
      END IF;
    END IF;`;
