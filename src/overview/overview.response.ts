import { ApiProperty } from '@nestjs/swagger';

/** What calls of a period or of a group have used. */
class OverviewSumsResponse {
  /** Attempts that reached a provider or an MCP server. */
  readonly calls: number;
  /** How many of these calls were refused or failed. */
  readonly failed_calls: number;
  /** US dollars. */
  @ApiProperty({ format: 'double' })
  readonly cost: number;
  /** Tokens of all units, as policies of type `tokens` count them. */
  readonly tokens: number;
}

export class OverviewPeriodResponse extends OverviewSumsResponse {
  /** Unix seconds, inclusive. The end is now. */
  readonly start: number;
}

export class OverviewGroupResponse extends OverviewSumsResponse {
  /** The id of the workspace or key, or the name of the model or provider; null for calls without one. */
  readonly id: string | null;
  /** null where the workspace or the key is gone, or there is none. */
  readonly name: string | null;
}

/** What cost most in seven days, at most ten of each kind. */
export class OverviewGroupsResponse {
  /** The providers that cost most. */
  readonly provider: OverviewGroupResponse[];
  /** The models that cost most. */
  readonly model: OverviewGroupResponse[];
  /** The workspaces that cost most. */
  readonly workspace: OverviewGroupResponse[];
  /** The API keys that cost most. */
  readonly api_key: OverviewGroupResponse[];
}

export class OverviewLatencyResponse {
  /** How many calls the figures are of: those of the last 24 hours, of more than 10,000 the newest. */
  readonly calls: number;
  /** Half of them took at most so many milliseconds. */
  readonly p50_ms: number;
  /** 95 % of them took at most so many milliseconds. */
  readonly p95_ms: number;
}

export const ATTENTION_KINDS = [
  'group_exhausted',
  'limit_near',
  'reference_failing',
  'server_failing',
  'model_without_price',
  'model_not_charged',
  'key_expiring',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export class OverviewAttentionResponse {
  /**
   * `group_exhausted`: a group has used up its limit. `limit_near`: a group has used 80 % or more. `reference_failing`: the last
   * read of a secret reference failed. `server_failing`: the last call of an MCP server got no usable answer, or a 5xx; calls that
   * the gateway refused, and that clients gave up, do not count. `model_without_price`: calls were refused because there is no
   * price. `model_not_charged`: calls were recorded as costing nothing because there is no price. `key_expiring`: an API key ends
   * within seven days.
   */
  readonly kind: AttentionKind;
  /** The id of the usage limit, secret reference or API key; null for servers and models. */
  readonly id: string | null;
  /** The name of the resource or model, or the slug of the server. */
  readonly name: string;
  /** The group, the error, or how many calls of the last day had no price; null: nothing more to say. */
  readonly detail: string | null;
  /** How much of the limit is used, from 0; null where there is no limit. */
  @ApiProperty({ format: 'double' })
  readonly used_share: number | null;
  /** Whether the limit refuses calls (`strict`) or counts them only (`monitor`); null where there is no limit. */
  @ApiProperty({ enum: ['strict', 'monitor'], nullable: true })
  readonly enforcement: 'strict' | 'monitor' | null;
  /** Unix seconds: when the limit resets, the key ends or the call failed; null: never, or not known. */
  readonly at: number | null;
}

export class OverviewResponse {
  readonly object: 'overview';
  /** From midnight. */
  readonly today: OverviewPeriodResponse;
  /** Today and the six days before. */
  readonly last_7_days: OverviewPeriodResponse;
  /** From the first of the month. */
  readonly month: OverviewPeriodResponse;
  /** null without calls, or without the log of calls (`REQUEST_LOG_DAYS=0`). */
  @ApiProperty({ type: OverviewLatencyResponse, nullable: true })
  readonly latency: OverviewLatencyResponse | null;
  /** The calls of seven days by what they have in common. */
  readonly groups: OverviewGroupsResponse;
  /** The worst first, at most 20 of each kind. Kinds whose resources the caller may not list are left out. */
  readonly attention: OverviewAttentionResponse[];
}
