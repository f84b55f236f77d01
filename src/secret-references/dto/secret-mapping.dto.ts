import { IsIn, IsString, Length } from 'class-validator';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { VALUE_FORMATS, type ValueFormat } from '../secret-mapping.entity.js';

/** A field that takes its value from a secret reference whenever it is used. */
export class SecretMappingDto {
  /**
   * Where the value goes. Of a virtual key: `key`, or `config.` and the name of an option. Of an MCP server: `headers.` and the
   * name of a header, or `jwt_validation.introspection.client_secret`.
   * @example "key"
   */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly target_field: string;

  /**
   * Id or slug of the secret reference.
   * @example "openai-production"
   */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly secret_reference_id: string;

  /** Key inside of the secret, instead of the reference's own. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly secret_key?: string | null;

  /** `json`: the value is parsed, for options that are no text. Otherwise it is text. */
  @OptionalOrNull()
  @IsIn(VALUE_FORMATS)
  readonly value_format?: ValueFormat | null;
}
