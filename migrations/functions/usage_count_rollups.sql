-- Notes what a statement changed in the ledger, by hour and group of calls, for `usage_fold_rollups` to add up. A trigger: whatever
-- writes to the ledger, also a gateway of an earlier version, notes it in the same transaction. So at every instant and
-- through every crash, the sums with these notes are those of the ledger. Rows are only added here: no statement waits for
-- another.
--
-- A partition that is dropped leaves the sums as they are: they outlive the ledger. Its argument is 1 for rows that came
-- (`changed`), and -1 for rows that went.
CREATE OR REPLACE FUNCTION usage_count_rollups() RETURNS trigger
LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  v_sign constant integer := TG_ARGV[0]::integer;
BEGIN
  INSERT INTO usage_rollup_changes (hour, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server,
    mcp_tool,
    calls, presumed_calls, failed_calls, cost_nano, tokens, q_input, q_cache_read, q_cache_write_5m, q_cache_write_1h,
    q_output, q_input_audio, q_output_audio, q_input_image, q_output_image, q_search_unit, q_request, q_web_search,
    q_audio_second, q_image, q_training)
  SELECT date_trunc('hour', at, 'UTC'), organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server,
    mcp_tool,
    count(*) * v_sign, count(*) FILTER (WHERE source = 'presumed') * v_sign,
    count(*) FILTER (WHERE outcome = 'failed') * v_sign,
    sum(cost_nano) * v_sign, sum(tokens) * v_sign,
    sum((quantities -> 'input')::bigint) * v_sign,
    sum((quantities -> 'cache_read')::bigint) * v_sign,
    sum((quantities -> 'cache_write_5m')::bigint) * v_sign,
    sum((quantities -> 'cache_write_1h')::bigint) * v_sign,
    sum((quantities -> 'output')::bigint) * v_sign,
    sum((quantities -> 'input_audio')::bigint) * v_sign,
    sum((quantities -> 'output_audio')::bigint) * v_sign,
    sum((quantities -> 'input_image')::bigint) * v_sign,
    sum((quantities -> 'output_image')::bigint) * v_sign,
    sum((quantities -> 'search_unit')::bigint) * v_sign,
    sum((quantities -> 'request')::bigint) * v_sign,
    sum((quantities -> 'web_search')::bigint) * v_sign,
    sum((quantities -> 'audio_second')::bigint) * v_sign,
    sum((quantities -> 'image')::bigint) * v_sign,
    sum((quantities -> 'training')::bigint) * v_sign
  FROM changed
  GROUP BY 1, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server,
    mcp_tool;
  RETURN NULL;
END $$;
