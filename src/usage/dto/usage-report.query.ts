import { ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsIn } from 'class-validator';
import { IsTextFilter } from '../../common/pagination/list.query.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { TimeRangeQuery } from '../../common/pagination/time-range.query.js';
import { Items } from '../../common/validation/bounded-fields.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { type ReportKey, REPORT_KEYS_TEXT } from '../report-keys.js';
import { IsReportKey } from './is-report-key.decorator.js';
import { ToList } from '../../common/validation/conversion.decorators.js';

export const TIME_BUCKETS = ['hour', 'day', 'month', 'none'] as const;
export type TimeBucket = (typeof TIME_BUCKETS)[number];

/** A field of the answer; `-` before it: in descending order. */
export const REPORT_SORTS = ['start', '-start', 'cost', '-cost', 'tokens', '-tokens', 'calls', '-calls'] as const;
export type ReportSort = (typeof REPORT_SORTS)[number];

const MAX_GROUPS = 5;

/** A value that is not JSON stays text, which the next rule refuses. */
const ToJson = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown => {
    try {
      return typeof value === 'string' ? JSON.parse(value) : value;
    } catch {
      return value;
    }
  });

export class UsageReportQuery extends IntersectionType(PageQuery, TimeRangeQuery) {
  /** Start of the report in Unix seconds, inclusive. Default: the first whole hour of the 30 days before `to`. */
  override readonly from?: number;

  /** End of the report in Unix seconds, exclusive. Default: now. */
  override readonly to?: number;

  /** Length of the periods, in UTC. `none`: one period for the whole report. */
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
  @Items({ min: 1, max: MAX_GROUPS, unique: true })
  @IsReportKey()
  readonly group_by?: ReportKey[];

  /**
   * The field to sort by; with `-` before it, in descending order. Equal ones are in the order of time, then of their groups.
   * `bucket=none&group_by=model&sort=-cost&page_size=5`: the five models that cost most.
   */
  @ApiPropertyOptional({ type: 'string', enum: REPORT_SORTS, default: 'start' })
  @Optional()
  @IsIn(REPORT_SORTS)
  readonly sort: ReportSort = 'start';

  /** Only calls of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  /** Only calls with this API key, by id. */
  @IsTextFilter()
  readonly api_key?: string;

  /** Only calls with this virtual key, by slug. */
  @IsTextFilter()
  readonly virtual_key?: string;

  /** Only calls to this provider. */
  @IsTextFilter(64)
  readonly provider?: string;

  /** Only calls to this model. */
  @IsTextFilter(512)
  readonly model?: string;

  /** Only calls of this operation, for example `rerank`. */
  @IsTextFilter(64)
  readonly endpoint?: string;

  /** Only calls to this MCP server, by slug. */
  @IsTextFilter()
  readonly mcp_server?: string;

  /** Only calls of this tool of an MCP server. */
  @IsTextFilter(512)
  readonly mcp_tool?: string;

  /**
   * Only calls whose metadata has all names and values of this JSON object.
   * @example "{\"team\":\"search\"}"
   */
  @ApiPropertyOptional({ type: 'string' })
  @Optional()
  @ToJson()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}
