import { IsIn } from 'class-validator';
import { IsTextFilter } from '../../common/pagination/list.query.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class UsageEntitiesQuery extends PageQuery {
  /** `exhausted` groups have reached the limit, or refused a call that did not fit into the rest. */
  @Optional()
  @IsIn(['active', 'exhausted'])
  readonly status?: 'active' | 'exhausted';

  /** Part of the value key, or of the name of an API key or workspace in it that the caller may list. */
  @IsTextFilter()
  readonly search?: string;
}
