/**
 * Facts that a request gathers on its way, for its one log line and its span. Ids and counts only. All fields are there
 * from the start, so that facts of all requests have one shape: V8 reads and writes those faster.
 */
export class LogFields {
  organisation_id: string | undefined = undefined;
  workspace_id: string | null | undefined = undefined;
  actor_type: string | undefined = undefined;
  actor_id: string | undefined = undefined;
  virtual_key: string | undefined = undefined;
  provider: string | undefined = undefined;
  model: string | undefined = undefined;
  documents: number | undefined = undefined;
  search_units: number | undefined = undefined;
  total_tokens: number | undefined = undefined;
  /** Billionths of a US dollar, of all attempts together. */
  cost_nano: number | undefined = undefined;
  /** What the usage limits said; undefined where none applies. */
  limit_decision: string | undefined = undefined;
  /** What a limit that only monitors would have said, and which. */
  limit_monitored: string | undefined = undefined;
  limit_monitored_policy: string | undefined = undefined;
  mcp_server: string | undefined = undefined;
  mcp_method: string | undefined = undefined;
  upstream_status: number | undefined = undefined;
  upstream_attempts: number | undefined = undefined;
  upstream_ms: number | undefined = undefined;
  /** The provider's own, of the last attempt. */
  upstream_request_id: string | undefined = undefined;
  error_code: string | undefined = undefined;
  error_reason: string | undefined = undefined;
}
