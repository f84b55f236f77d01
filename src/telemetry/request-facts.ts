/** Facts that a request gathers on its way, for its one log line and its span. Ids and counts only. */
export interface RequestFacts {
  organisation_id?: string;
  workspace_id?: string | null;
  actor_type?: string;
  actor_id?: string;
  virtual_key?: string;
  provider?: string;
  model?: string;
  documents?: number;
  search_units?: number;
  total_tokens?: number;
  upstream_status?: number;
  upstream_attempts?: number;
  upstream_ms?: number;
  error_code?: string;
  error_reason?: string;
}
