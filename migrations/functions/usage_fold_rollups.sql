-- Adds at most p_max notes of `usage_count_rollups` to the sums by hour and by day, and deletes them: one statement, so a report
-- finds each in one place. Returns how many they were. One gateway at a time; another finds nothing to do.
--
-- A group whose sum no counter can hold must not stop all others: see `usage_bounded`.
CREATE OR REPLACE FUNCTION usage_fold_rollups(p_max integer) RETURNS integer
LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  v_count integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7160236, 0) THEN
    RETURN 0;
  END IF;
  WITH taken AS (
    DELETE FROM usage_rollup_changes
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM usage_rollup_changes LIMIT p_max)) RETURNING *
  ), named AS (
    -- The group's id is a hash of its values, so that none has to be looked up.
    SELECT encode(substr(sha256(convert_to(g.names, 'UTF8')), 1, 16), 'hex')::uuid AS group_id, t.*
    FROM taken t CROSS JOIN LATERAL (
      SELECT jsonb_build_array(organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server,
        mcp_tool)::text AS names
    ) g
  ), known AS (
    INSERT INTO usage_rollup_groups (id, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint,
      mcp_server, mcp_tool)
    SELECT DISTINCT group_id, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server,
      mcp_tool
    FROM named ON CONFLICT DO NOTHING
  ), added AS (
    INSERT INTO usage_rollups AS r (organisation_id, hours, start, group_id,
      calls, presumed_calls, failed_calls, cost_nano, tokens, q_input, q_cache_read, q_cache_write_5m,
      q_cache_write_1h, q_output, q_input_audio, q_output_audio, q_input_image, q_output_image, q_search_unit,
      q_request, q_web_search, q_audio_second, q_image, q_training)
    SELECT organisation_id, p.hours, CASE p.hours WHEN 1 THEN hour ELSE date_trunc('day', hour, 'UTC') END, group_id,
      sum(calls), sum(presumed_calls), sum(failed_calls),
      usage_bounded(sum(cost_nano)), usage_bounded(sum(tokens)),
      usage_bounded(sum(q_input)),
      usage_bounded(sum(q_cache_read)),
      usage_bounded(sum(q_cache_write_5m)),
      usage_bounded(sum(q_cache_write_1h)),
      usage_bounded(sum(q_output)),
      usage_bounded(sum(q_input_audio)),
      usage_bounded(sum(q_output_audio)),
      usage_bounded(sum(q_input_image)),
      usage_bounded(sum(q_output_image)),
      usage_bounded(sum(q_search_unit)),
      usage_bounded(sum(q_request)),
      usage_bounded(sum(q_web_search)),
      usage_bounded(sum(q_audio_second)),
      usage_bounded(sum(q_image)),
      usage_bounded(sum(q_training))
    FROM named CROSS JOIN (VALUES (1::smallint), (24::smallint)) AS p(hours)
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (organisation_id, hours, start, group_id) DO UPDATE
    SET calls = r.calls + EXCLUDED.calls, presumed_calls = r.presumed_calls + EXCLUDED.presumed_calls,
      failed_calls = r.failed_calls + EXCLUDED.failed_calls,
      cost_nano = usage_bounded(r.cost_nano::numeric + EXCLUDED.cost_nano),
      tokens = usage_bounded(r.tokens::numeric + EXCLUDED.tokens),
      q_input = usage_bounded(COALESCE(r.q_input::numeric + EXCLUDED.q_input, r.q_input, EXCLUDED.q_input)),
      q_cache_read = usage_bounded(COALESCE(r.q_cache_read::numeric + EXCLUDED.q_cache_read, r.q_cache_read, EXCLUDED.q_cache_read)),
      q_cache_write_5m = usage_bounded(COALESCE(r.q_cache_write_5m::numeric + EXCLUDED.q_cache_write_5m, r.q_cache_write_5m, EXCLUDED.q_cache_write_5m)),
      q_cache_write_1h = usage_bounded(COALESCE(r.q_cache_write_1h::numeric + EXCLUDED.q_cache_write_1h, r.q_cache_write_1h, EXCLUDED.q_cache_write_1h)),
      q_output = usage_bounded(COALESCE(r.q_output::numeric + EXCLUDED.q_output, r.q_output, EXCLUDED.q_output)),
      q_input_audio = usage_bounded(COALESCE(r.q_input_audio::numeric + EXCLUDED.q_input_audio, r.q_input_audio, EXCLUDED.q_input_audio)),
      q_output_audio = usage_bounded(COALESCE(r.q_output_audio::numeric + EXCLUDED.q_output_audio, r.q_output_audio, EXCLUDED.q_output_audio)),
      q_input_image = usage_bounded(COALESCE(r.q_input_image::numeric + EXCLUDED.q_input_image, r.q_input_image, EXCLUDED.q_input_image)),
      q_output_image = usage_bounded(COALESCE(r.q_output_image::numeric + EXCLUDED.q_output_image, r.q_output_image, EXCLUDED.q_output_image)),
      q_search_unit = usage_bounded(COALESCE(r.q_search_unit::numeric + EXCLUDED.q_search_unit, r.q_search_unit, EXCLUDED.q_search_unit)),
      q_request = usage_bounded(COALESCE(r.q_request::numeric + EXCLUDED.q_request, r.q_request, EXCLUDED.q_request)),
      q_web_search = usage_bounded(COALESCE(r.q_web_search::numeric + EXCLUDED.q_web_search, r.q_web_search, EXCLUDED.q_web_search)),
      q_audio_second = usage_bounded(COALESCE(r.q_audio_second::numeric + EXCLUDED.q_audio_second, r.q_audio_second, EXCLUDED.q_audio_second)),
      q_image = usage_bounded(COALESCE(r.q_image::numeric + EXCLUDED.q_image, r.q_image, EXCLUDED.q_image)),
      q_training = usage_bounded(COALESCE(r.q_training::numeric + EXCLUDED.q_training, r.q_training, EXCLUDED.q_training))
  )
  SELECT count(*) INTO v_count FROM taken;
  RETURN v_count;
END $$;
