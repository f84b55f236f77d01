/** Columns that a reservation and the ledger share; `FACTS` with their types, as they come in JSON. */
export const NAMES = `organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server, mcp_tool,
        metadata, trace_id, attempt`;
export const TYPES = `organisation_id uuid, workspace_id uuid, api_key_id varchar(255), virtual_key varchar(255),
        provider varchar(64), model varchar(255), endpoint varchar(64), mcp_server varchar(255), mcp_tool varchar(255),
        metadata jsonb, trace_id varchar(128), attempt integer`;
export const FIGURES = `cost_nano, tokens, search_units, source, price_id`;
export const FIGURE_TYPES = `cost_nano bigint, tokens bigint, search_units bigint, source varchar(16), price_id uuid`;
