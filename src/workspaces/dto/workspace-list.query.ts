import { IsIn } from 'class-validator';
import { IsIdsFilter, IsSort, ListQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class WorkspaceListQuery extends ListQuery {
  /** Every workspace is `active`. */
  @Optional()
  @IsIn(['active'])
  readonly status?: 'active';

  @IsIdsFilter()
  readonly ids?: string;

  @IsSort('name', 'slug')
  override readonly sort: string = '-created_at';
}
