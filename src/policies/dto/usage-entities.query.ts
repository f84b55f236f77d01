import { IsIn, IsString, Length } from 'class-validator';
import { PageQuery } from '../../common/pagination/page.query.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class UsageEntitiesQuery extends PageQuery {
  /** `exhausted` groups have reached the limit, or refused a call that did not fit into the rest. */
  @Optional()
  @IsIn(['active', 'exhausted'])
  readonly status?: 'active' | 'exhausted';

  /** Part of the value key. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly search?: string;
}
