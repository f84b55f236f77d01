import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { PageQuery } from '../../common/pagination/page.query.js';
import { LAST_SECOND } from '../../common/time/unix-time.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { type ReportKey, REPORT_KEYS_TEXT } from '../report-keys.js';
import { IsReportKey } from './is-report-key.decorator.js';
import { ToList } from '../../common/validation/to-list.decorator.js';
import { ToNumber } from '../../common/validation/to-number.decorator.js';

export const TIME_BUCKETS = ['hour', 'day', 'month', 'none'] as const;
export type TimeBucket = (typeof TIME_BUCKETS)[number];

const MAX_GROUPS = 5;

/** What is no JSON stays text, which the next rule refuses. */
const ToJson = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown => {
    try {
      return typeof value === 'string' ? JSON.parse(value) : value;
    } catch {
      return value;
    }
  });

export class UsageReportQuery extends PageQuery {
  /** Unix seconds, included. 30 days before `to` by default. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly from?: number;

  /** Unix seconds, not included. Now by default. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly to?: number;

  /** Width of the periods in time, in UTC. */
  @Optional()
  @IsIn(TIME_BUCKETS)
  readonly bucket: TimeBucket = 'day';

  @ApiPropertyOptional({
    type: 'string',
    description: `Up to five of ${REPORT_KEYS_TEXT}, separated by commas.`,
    example: 'model,metadata.team',
  })
  @Optional()
  @ToList()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_GROUPS)
  @ArrayUnique()
  @IsReportKey()
  readonly group_by?: ReportKey[];

  /** Id or slug. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string;

  /** Id of an API key. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly api_key?: string;

  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly virtual_key?: string;

  @Optional()
  @IsString()
  @Length(1, 64)
  @IsStorable()
  readonly provider?: string;

  @Optional()
  @IsString()
  @Length(1, 512)
  @IsStorable()
  readonly model?: string;

  @Optional()
  @IsString()
  @Length(1, 64)
  @IsStorable()
  readonly endpoint?: string;

  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly mcp_server?: string;

  @Optional()
  @IsString()
  @Length(1, 512)
  @IsStorable()
  readonly mcp_tool?: string;

  /**
   * A JSON object: calls whose metadata has all of it.
   * @example "{\"team\":\"search\"}"
   */
  @ApiPropertyOptional({ type: 'string' })
  @Optional()
  @ToJson()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}
