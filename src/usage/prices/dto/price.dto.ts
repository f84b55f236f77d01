import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, IsUUID, Length, Matches, Max, Min } from 'class-validator';
import { LAST_SECOND } from '../../../common/time/unix-time.js';
import { IsStorable } from '../../../common/validation/is-storable.decorator.js';
import { Optional } from '../../../common/validation/optional.decorator.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../../upstream/providers/provider.types.js';
import { MAX_MODEL_LENGTH, PRICE_MODES, type PriceMode, UNIT_SPELLINGS, type UnitSpelling } from '../price.types.js';
import { IsPrice } from './is-price.decorator.js';

const STAR_ONLY_AT_THE_END = /^[^*]*\*?$/;
/** More tokens than any model reads. */
const MAX_TIER = 1_000_000_000;
/** 2000-01-01 UTC. Earlier ones are milliseconds or days by mistake. */
const FIRST_SECOND = 946_684_800;

export class CreatePriceDto {
  /**
   * The provider of the model.
   * @example "cohere"
   */
  @ApiProperty({ enum: PROVIDER_SLUGS, enumName: 'Provider' })
  @IsIn(PROVIDER_SLUGS)
  readonly provider: ProviderSlug;

  /**
   * Name of the model as callers write it; with `*` at its end, the beginning of names.
   * @example "rerank-v3.5"
   */
  @IsString()
  @Length(1, MAX_MODEL_LENGTH)
  @Matches(STAR_ONLY_AT_THE_END, { message: '$property may have a * at its end only' })
  @IsStorable()
  readonly model: string;

  /**
   * What is priced.
   * @example "search_unit"
   */
  @IsIn(UNIT_SPELLINGS)
  readonly unit: UnitSpelling;

  /** How the call is served. A mode without prices of its own has those of `standard`, the default. */
  @Optional()
  @IsIn(PRICE_MODES)
  readonly mode?: PriceMode;

  /** The price counts for calls with at least so many input tokens; 0 when omitted. The whole call has the price of its tier. */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_TIER)
  readonly min_input_tokens?: number;

  /**
   * US dollars for one unit, a decimal number in a string; at most 1000000.
   * @example "0.0018"
   */
  @IsPrice()
  readonly price: string;

  /** Unix seconds from which it counts; now when omitted. */
  @Optional()
  @IsInt()
  @Min(FIRST_SECOND)
  @Max(LAST_SECOND)
  readonly effective_from?: number;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
