import { ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { SearchQuery } from '../../common/pagination/list.query.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';
import { MODALITIES, type Modality } from './model-facts.js';

export const CATALOGUE_SORTS = ['provider', 'model', 'context_window', '-context_window'] as const;
export type CatalogueSort = (typeof CATALOGUE_SORTS)[number];

export class CatalogueModelQuery extends IntersectionType(PageQuery, SearchQuery) {
  /** Only models of this provider. */
  @Optional()
  @IsIn(PROVIDER_SLUGS)
  readonly provider?: ProviderSlug;

  /** Only models that read this: `image` finds those that see pictures. */
  @Optional()
  @IsIn(MODALITIES)
  readonly input_modality?: Modality;

  /** The field to sort by; with `-` before it, in descending order. */
  @ApiPropertyOptional({ enum: CATALOGUE_SORTS, default: 'provider' })
  @IsIn(CATALOGUE_SORTS)
  readonly sort: CatalogueSort = 'provider';
}
