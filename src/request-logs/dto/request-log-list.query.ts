import { IntersectionType } from '@nestjs/swagger';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { IsTextFilter } from '../../common/pagination/list.query.js';
import { LogListQuery } from '../../common/pagination/log-list.query.js';
import { TimeRangeQuery } from '../../common/pagination/time-range.query.js';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { LOGGED_OUTCOMES } from '../../telemetry/logged-outcome.js';

const OUTCOME_FILTERS = [...LOGGED_OUTCOMES, 'failed'] as const;
const MAX_INTEGER = 2 ** 31 - 1;

export class RequestLogListQuery extends IntersectionType(LogListQuery, TimeRangeQuery) {
  /** Only calls with this key (its id), or of this user of a token. */
  @IsTextFilter()
  readonly actor_id?: string;

  /** Only calls of this user. */
  @IsTextFilter()
  readonly user_id?: string;

  /** Only calls of this session (`metadata.session`). */
  @IsTextFilter()
  readonly session?: string;

  /** Only calls in this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  /** Only calls of this route, for example `/v1/rerank`. */
  @IsTextFilter()
  readonly route?: string;

  /** Only calls of this model. A call of a model route has the model of its target. */
  @IsTextFilter()
  readonly model?: string;

  /** Only calls that named the model so: by the name of a model route, for example. */
  @IsTextFilter()
  readonly model_requested?: string;

  /** Only calls to this provider. */
  @IsTextFilter(64)
  readonly provider?: string;

  /** Only calls with this virtual key, by slug. */
  @IsTextFilter()
  readonly virtual_key?: string;

  /** Only calls to this MCP server, by slug. */
  @IsTextFilter()
  readonly mcp_server?: string;

  /** Only calls of this trace. */
  @IsTextFilter(128)
  readonly trace_id?: string;

  /** Only calls with this status. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(599)
  readonly status?: number;

  /** Only calls whose status begins with this digit. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(5)
  readonly status_class?: number;

  /** Only calls that ended so. `failed`: with any error, also those with a status below 400. */
  @Optional()
  @IsIn(OUTCOME_FILTERS)
  readonly outcome?: (typeof OUTCOME_FILTERS)[number];

  /** Only calls that took so many milliseconds or more. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(MAX_INTEGER)
  readonly min_duration_ms?: number;
}
