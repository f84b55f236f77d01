import { IsIn, IsString, Length } from 'class-validator';
import { Nested } from '../../common/validation/bounded-fields.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { IsNoMachine, NewApiKeyDto } from './api-key.dto.js';

export class KeyDefaultsDto {
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}

/** A create whose address says the level and the type of the key. */
export class CreatePlacedApiKeyDto extends NewApiKeyDto {
  /** The type of the key, or its level: clients of Portkey call the level so, and send it in the body as well. */
  @Optional()
  @IsIn(['service', 'user', 'workspace', 'organisation'])
  readonly type?: 'service' | 'user' | 'workspace' | 'organisation';

  /** The type of the key, beside a `type` that is its level. */
  @Optional()
  @IsIn(['service', 'user'])
  readonly 'sub-type'?: 'service' | 'user';

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
