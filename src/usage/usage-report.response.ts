import { ApiProperty } from '@nestjs/swagger';

/** What was used in a period by a group of calls. */
export class UsagePeriodResponse {
  readonly object: 'usage-bucket';
  /** Unix seconds, inclusive. Periods are whole in UTC, also at the ends of the range. */
  readonly start: number;
  /** Unix seconds, exclusive. */
  readonly end: number;
  /** The values of `group_by`; null where the calls had none. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string', nullable: true } })
  readonly group: Readonly<Record<string, string | null>>;
  /** Attempts that reached a provider. */
  readonly calls: number;
  /** US dollars. */
  @ApiProperty({ format: 'double' })
  readonly cost: number;
  /** Tokens of all units, as policies of type `tokens` count them. */
  readonly tokens: number;
  /** Search units of rerank calls. */
  readonly search_units: number;
  /** Sums by unit, of the units that the calls have figures of: `input`, `cache_read`, `output`, `search_unit`, … */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer', format: 'int64' } })
  readonly quantities: Readonly<Record<string, number>>;
  /** Calls whose end is not known: their bound is in the sums. */
  readonly presumed_calls: number;
  /** Calls that the provider refused, and calls of tools that failed or got no answer from their MCP server. */
  readonly failed_calls: number;
}

export class UsageReportResponse {
  readonly object: 'list';
  readonly data: UsagePeriodResponse[];
  readonly total: number;
}
