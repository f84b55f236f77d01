/**
 * Fields that a request collects for its log line and its span. Ids and counts only. All fields exist from the start,
 * so that V8 gives all instances one shape, which is faster.
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
  /** What was charged by unit, of all attempts together. */
  quantities: Readonly<Record<string, number>> | undefined = undefined;
  /** Billionths of a US dollar, of all attempts together. */
  cost_nano: number | undefined = undefined;
  /** The provider reported more than the bound: `reported` or `capped` is what was charged. */
  usage_above_bound: string | undefined = undefined;
  /** The decision of the usage limits; undefined where none applies. */
  limit_decision: string | undefined = undefined;
  /** The decision that a monitoring limit would have made, and its id. */
  limit_monitored: string | undefined = undefined;
  limit_monitored_policy: string | undefined = undefined;
  mcp_server: string | undefined = undefined;
  mcp_method: string | undefined = undefined;
  upstream_status: number | undefined = undefined;
  upstream_attempts: number | undefined = undefined;
  upstream_ms: number | undefined = undefined;
  /** The provider's request id of the last attempt. */
  upstream_request_id: string | undefined = undefined;
  error_code: string | undefined = undefined;
  error_reason: string | undefined = undefined;
}
