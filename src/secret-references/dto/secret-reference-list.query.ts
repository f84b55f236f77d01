import { IsIn } from 'class-validator';
import { IsSort, ListQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { MANAGER_NAMES } from '../auth-config/auth-schemes.js';
import { IsTagsText } from './is-tags.decorator.js';

export class SecretReferenceListQuery extends ListQuery {
  /** Either name of a manager finds the references of both. */
  @Optional()
  @IsIn(MANAGER_NAMES)
  readonly manager_type?: string;

  /** JSON object: references whose tags contain it. */
  @Optional()
  @IsTagsText()
  readonly tags?: string;

  /** Every secret reference is `active`. */
  @Optional()
  @IsIn(['active'])
  readonly status?: 'active';

  /** `true`: only those whose last fetch failed; `false`: only the others. */
  @Optional()
  @IsIn(['true', 'false'])
  readonly failing?: 'true' | 'false';

  @IsSort('name', 'slug', 'last_resolved_at')
  override readonly sort: string = '-created_at';
}
