import { IsInt, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { PageQuery } from '../common/pagination/page.query.js';
import { LAST_SECOND } from '../common/time/unix-time.js';
import { IsStorable } from '../common/validation/is-storable.decorator.js';
import { Optional } from '../common/validation/optional.decorator.js';
import { ToNumber } from '../common/validation/conversion.decorators.js';

export class AuditLogQuery extends PageQuery {
  /** Id of the API key, or subject of the administrator's token, that made the change. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly actor?: string;

  /** What was done, e.g. `virtual_keys.update`. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly action?: string;

  /** Id of the changed resource. */
  @Optional()
  @IsUUID()
  readonly resource?: string;

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
