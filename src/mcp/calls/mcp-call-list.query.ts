import { IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { PageQuery } from '../../common/pagination/page.query.js';
import { LAST_SECOND } from '../../common/time/unix-time.js';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { CALL_OUTCOMES, type CallOutcome } from './call-outcome.js';

export class McpCallListQuery extends PageQuery {
  /** Only calls of the user with this `user_id`. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly user_id?: string;

  /** Only calls of this tool. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
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

  /** Unix seconds, inclusive. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly from?: number;

  /** Unix seconds, inclusive. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly to?: number;
}
