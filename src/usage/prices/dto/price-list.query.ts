import { IsIn, IsString, Length } from 'class-validator';
import { IsSortOf, ListQuery } from '../../../common/pagination/list.query.js';
import { IsStorable } from '../../../common/validation/is-storable.decorator.js';
import { Optional } from '../../../common/validation/optional.decorator.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../../upstream/providers/provider.types.js';
import { MAX_MODEL_LENGTH, UNIT_SPELLINGS, type UnitSpelling } from '../price.types.js';

export class PriceListQuery extends ListQuery {
  /** Only prices of this provider. */
  @Optional()
  @IsIn(PROVIDER_SLUGS)
  readonly provider?: ProviderSlug;

  /** Only prices of this model, as the price spells it, including `*`. Upper and lower case are the same. */
  @Optional()
  @IsString()
  @Length(1, MAX_MODEL_LENGTH)
  @IsStorable()
  readonly model?: string;

  /** Only prices of this unit. */
  @Optional()
  @IsIn(UNIT_SPELLINGS)
  readonly unit?: UnitSpelling;

  /** Within each part of the list: the organisation's own prices, the operator's, the built-in ones. */
  @IsSortOf('created_at', 'effective_from', 'provider', 'model')
  override readonly sort: string = '-created_at';
}
