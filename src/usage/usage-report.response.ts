import { ApiProperty } from '@nestjs/swagger';

/** What was used in a period by a group of calls. */
export class UsagePeriodResponse {
  readonly object: 'usage-bucket';
  /** Unix seconds, included. Whole periods in UTC, also at the ends of the range. */
  readonly start: number;
  /** Unix seconds, not included. */
  readonly end: number;
  /** The values of `group_by`; null where the calls had none. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string', nullable: true } })
  readonly group: Readonly<Record<string, string | null>>;
  /** Attempts that reached a provider. */
  readonly calls: number;
  /** US dollars. */
  @ApiProperty({ format: 'double' })
  readonly cost: number;
  readonly tokens: number;
  readonly search_units: number;
  /** Calls of which nobody knows how they ended: their estimate is in the sums. */
  readonly presumed_calls: number;
}

export class UsageReportResponse {
  readonly object: 'list';
  readonly data: UsagePeriodResponse[];
  readonly total: number;
}
