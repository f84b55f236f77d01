import { IsIn, IsUUID } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export class UsageLimitQuery {
  /** `true`: includes the usage. */
  @Optional()
  @IsIn(['true', 'false'])
  readonly include_usage: 'true' | 'false' = 'false';

  /** The organisation to read. Needed only with an administrator's token that grants several. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
