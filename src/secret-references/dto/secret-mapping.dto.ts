import { IsIn, IsString, Length, ValidateBy, validateSync } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { isObject } from '../../common/json/read.js';
import { AsGiven, copyForClass } from '../../common/validation/bounded-fields.js';
import { withoutMark } from '../../common/validation/inherited-names.js';
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

  /** `json`: the value is parsed, for options that are not text. Otherwise it is text. */
  @OptionalOrNull()
  @IsIn(VALUE_FORMATS)
  readonly value_format?: ValueFormat | null;
}

/** More than any owner has fields. */
const MAX_MAPPINGS = 32;

/**
 * A list of SecretMappingDto. In one rule, and not by `@ValidateNested()`, for which class-transformer would copy the whole
 * body.
 */
export function IsSecretMappings(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isSecretMappings',
    validator: {
      validate: (value: unknown) => problemOf(value) === undefined,
      defaultMessage: (rule) => `${rule?.property}${problemOf(rule?.value) ?? ' is valid'}`,
    },
  });
  return applyDecorators(hasItsForm, AsGiven(MAX_MAPPINGS));
}

/** What is wrong first, reading on from the field's name: `.0.target_field must be a string`. */
function problemOf(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length > MAX_MAPPINGS)
    return ` must be a list of at most ${MAX_MAPPINGS} mappings`;
  for (const [index, item] of value.entries()) {
    const problem = problemOfItem(item);
    if (problem !== undefined) return `.${index}${problem}`;
  }
  return undefined;
}

function problemOfItem(item: unknown): string | undefined {
  if (!isObject(item)) return ' must be an object';
  const mapping = plainToInstance(SecretMappingDto, copyForClass(SecretMappingDto, item));
  const rules = { whitelist: true, forbidNonWhitelisted: true } as const;
  const [error] = validateSync(mapping, rules);
  if (error === undefined) return undefined;
  const { property, constraints = {} } = error;
  const [message = ''] = Object.values(constraints);
  return 'whitelistValidation' in constraints ? `.${withoutMark(property)} is not a known field` : `.${message}`;
}
