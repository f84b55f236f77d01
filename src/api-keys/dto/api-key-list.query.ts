import { IsIn } from 'class-validator';
import { SCOPES, type Scope } from '../../access/scopes.js';
import { ExpirableListQuery, IsIdsFilter, IsSort, IsTextFilter } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class ApiKeyListQuery extends ExpirableListQuery {
  /** Only keys of this type. */
  @Optional()
  @IsIn(['service', 'user'])
  readonly type?: 'service' | 'user';

  /** Only keys of workspaces, or only those of the whole organisation. */
  @Optional()
  @IsIn(['workspace', 'organisation'])
  readonly level?: 'workspace' | 'organisation';

  /** Only keys of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  /** Only keys of the user with this `user_id`. */
  @IsTextFilter()
  readonly user_id?: string;

  /** Only keys that have this scope. */
  @Optional()
  @IsIn(SCOPES)
  readonly scope?: Scope;

  @IsIdsFilter()
  readonly ids?: string;

  @IsSort('name', 'expires_at', 'last_used_at')
  override readonly sort: string = '-created_at';
}
