import { IsInt, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { LAST_SECOND } from '../common/time/unix-time.js';
import { IsStorable } from '../common/validation/is-storable.decorator.js';
import { Optional } from '../common/validation/optional.decorator.js';
import { ToNumber } from '../common/validation/conversion.decorators.js';

/** What both the list and the export can be limited to. */
export class AuditLogFilter {
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

  /** The kind of the changed resource, e.g. `virtual-key`. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly resource_type?: string;

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

  /** The organisation to read. Needed only with an administrator's token that grants several. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

export class AuditLogQuery extends AuditLogFilter {
  /** Number of the page, from 0. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  readonly current_page: number = 0;

  /** Items on a page. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(100)
  readonly page_size: number = 20;
}
