import { IsString, Length } from 'class-validator';
import { Nested } from '../../common/validation/bounded-fields.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { CreateApiKeyDto, IsNoMachine } from './api-key.dto.js';

export class KeyDefaultsDto {
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}

/** A create whose address says the level and the type of the key. */
export class CreatePlacedApiKeyDto extends CreateApiKeyDto {
  /** The user of a `user` key, instead of `user`. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsNoMachine()
  @IsStorable()
  readonly user_id?: string;

  /** `metadata` under another name. */
  @Optional()
  @Nested(() => KeyDefaultsDto)
  readonly defaults?: KeyDefaultsDto;
}
