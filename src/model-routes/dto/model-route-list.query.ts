import { IsIn } from 'class-validator';
import { IsSort, IsTextFilter, ListQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class ModelRouteListQuery extends ListQuery {
  /** Every model route is `active`. */
  @Optional()
  @IsIn(['active'])
  readonly status?: 'active';

  /** Only model routes of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  @IsSort('name', 'slug')
  override readonly sort: string = '-created_at';
}
