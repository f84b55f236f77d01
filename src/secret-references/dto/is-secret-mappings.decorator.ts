import { applyDecorators } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import { isObject } from '../../common/json/read.js';
import { AsGiven, markInheritedNames, withoutMark } from '../../common/validation/inherited-names.js';
import { SecretMappingDto } from './secret-mapping.dto.js';

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
  return applyDecorators(hasItsForm, AsGiven());
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
  const mapping = plainToInstance(SecretMappingDto, markInheritedNames(item));
  const rules = { whitelist: true, forbidNonWhitelisted: true } as const;
  const [error] = validateSync(mapping, rules);
  if (error === undefined) return undefined;
  const { property, constraints = {} } = error;
  const [message = ''] = Object.values(constraints);
  return 'whitelistValidation' in constraints ? `.${withoutMark(property)} is not a known field` : `.${message}`;
}
