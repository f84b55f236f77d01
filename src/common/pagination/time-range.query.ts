import { IsInt, Max, Min } from 'class-validator';
import { LAST_SECOND } from '../time/unix-time.js';
import { ToNumber } from '../validation/conversion.decorators.js';
import { Optional } from '../validation/optional.decorator.js';

export class TimeRangeQuery {
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
