import { IsIn, IsUUID } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export class UsageLimitQuery {
  /** `true`: with what has been used. */
  @Optional()
  @IsIn(['true', 'false'])
  readonly include_usage: 'true' | 'false' = 'false';

  /** Only with an administrator's token that grants several organisations: the one to look into. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
