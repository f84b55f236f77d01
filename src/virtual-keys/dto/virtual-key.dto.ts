import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsNotEmpty, IsString, IsUUID, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsSlug } from '../../common/validation/slug.decorators.js';
import { LAST_SECOND } from '../../common/time/unix-time.js';
import { MaxFields } from '../../common/validation/bounded-fields.js';
import { Synonyms } from '../../common/validation/synonyms.decorator.js';
import { IsName } from '../../common/validation/is-name.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { IsSecretMappings, SecretMappingDto } from '../../secret-references/dto/secret-mapping.dto.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';

/** More than any provider has. */
const MAX_OPTIONS = 100;
/** Every provider takes its key in a header. */
const FITS_A_HEADER = /^[\x21-\x7e]*$/;

/**
 * The fields that have the same rules in a create and in an update. What only a create requires must stay out:
 * class-validator passes a parent's `@Optional()` on to the child's field of that name.
 */
class VirtualKeyFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** The provider's own key. Sealed at once, and only ever shown masked. The mask of what is stored changes nothing; null: none. */
  @OptionalOrNull()
  @IsString()
  @IsNotEmpty()
  @MaxLength(8192)
  @Matches(FITS_A_HEADER, { message: '$property must be of printable ASCII characters without spaces and line breaks' })
  readonly key?: string | null;

  /** Options of the provider; see the provider's schema. On an update it is merged, and `null` takes a field out. */
  @Optional()
  @MaxFields(MAX_OPTIONS)
  @IsStorable()
  readonly config?: Record<string, unknown>;

  /**
   * Fields that take their values from secret references. A mapped field needs no value of its own, and may have none. On an
   * update these take the place of all mappings; null or an empty list removes them.
   */
  @OptionalOrNull()
  @IsSecretMappings()
  readonly secret_mappings?: SecretMappingDto[] | null;

  /** Unix seconds; null: never. */
  @OptionalOrNull()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly expires_at?: number | null;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@Synonyms({ note: 'description' })
@ReadOnlyFields(['slug', 'provider', 'workspace_id', 'status'])
export class UpdateVirtualKeyDto extends VirtualKeyFieldsDto {
  /** @example "Cohere production" */
  @Optional()
  @IsName()
  readonly name?: string;
}

@Synonyms({ note: 'description' })
export class CreateVirtualKeyDto extends VirtualKeyFieldsDto {
  /** @example "Local reranker" */
  @IsName()
  readonly name: string;

  /**
   * The provider that calls with this virtual key go to.
   * @example "local"
   */
  @ApiProperty({ enum: PROVIDER_SLUGS, enumName: 'Provider' })
  @IsIn(PROVIDER_SLUGS)
  readonly provider: ProviderSlug;

  /** Made from the name when omitted. Clients send it in `x-gateway-virtual-key`. */
  @Optional()
  @IsSlug()
  readonly slug?: string;

  /** Id or slug. Without it, a caller of the whole organisation makes a key that all its workspaces can use. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;
}
