import { IsIn } from 'class-validator';
import { ExpirableListQuery, IsSort, IsTextFilter } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';

export class VirtualKeyListQuery extends ExpirableListQuery {
  /** Only virtual keys of this provider. */
  @Optional()
  @IsIn(PROVIDER_SLUGS)
  readonly provider?: ProviderSlug;

  /** Only virtual keys of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  @IsSort('name', 'slug', 'provider', 'expires_at')
  override readonly sort: string = '-created_at';
}
