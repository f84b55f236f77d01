-- Raises the alert of a policy that has nine tenths of the groups that it may have, once for each window. p_buckets and
-- p_ordinals are those of usage_batch: the ordinal of a group that was made is the number of groups of its policy and window.
CREATE OR REPLACE FUNCTION usage_warn_of_groups(p_buckets jsonb, p_ordinals integer[], p_max integer) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO webhook_outbox (organisation_id, workspace_id, type, dedupe_key, payload)
  SELECT k.organisation_id, k.workspace_id, 'usage_limit.groups_nearly_full',
    concat_ws(':', 'usage', k.policy_id, k.window_id, 'groups', p_max),
    jsonb_build_object(
      'policy_id', k.policy_id,
      'policy_name', (SELECT p.name FROM usage_policies p WHERE p.id = k.policy_id),
      'type', k.unit,
      'window', jsonb_build_object(
        'id', k.window_id,
        'resets_at', to_char(k.resets_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      'groups', max(p_ordinals[k.place]),
      'max_groups', p_max)
  FROM ROWS FROM (jsonb_to_recordset(p_buckets) AS (policy_id uuid, window_id varchar(16), organisation_id uuid,
    workspace_id uuid, unit varchar(8), resets_at timestamptz))
    WITH ORDINALITY AS k(policy_id, window_id, organisation_id, workspace_id, unit, resets_at, place)
  WHERE p_ordinals[k.place] >= GREATEST(p_max * 0.9, 1)
  GROUP BY k.policy_id, k.window_id, k.organisation_id, k.workspace_id, k.unit, k.resets_at
  ON CONFLICT (dedupe_key) DO NOTHING;
$$;
