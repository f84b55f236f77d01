import { IntersectionType } from '@nestjs/swagger';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { IsTextFilter } from '../../common/pagination/list.query.js';
import { LogListQuery } from '../../common/pagination/log-list.query.js';
import { TimeRangeQuery } from '../../common/pagination/time-range.query.js';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { CALL_OUTCOMES, type CallOutcome } from './call-outcome.types.js';

export class McpCallListQuery extends IntersectionType(LogListQuery, TimeRangeQuery) {
  /** Only calls of the user with this `user_id`. */
  @IsTextFilter()
  readonly user_id?: string;

  /** Only calls of this tool. */
  @IsTextFilter()
  readonly tool?: string;

  /** Only calls that ended so. */
  @Optional()
  @IsIn(CALL_OUTCOMES)
  readonly outcome?: CallOutcome;

  /** Only calls with this status. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(599)
  readonly status?: number;
}
