import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';

const MAX_VALUES = 100;
const MAX_LENGTH = 512;

/** A text, or 1 to 100 of them. */
export function IsConditionValue(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isConditionValue',
    validator: {
      validate: (value) => isValue(value) || isListOfValues(value),
      defaultMessage: buildMessage(
        () => `$property must be a text of 1 to ${MAX_LENGTH} characters, or a list of 1 to ${MAX_VALUES} of them`,
      ),
    },
  });
  return applyDecorators(hasItsForm, IsStorable(), AsGiven(MAX_VALUES));
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH;
}

function isListOfValues(value: unknown): boolean {
  return Array.isArray(value) && value.length >= 1 && value.length <= MAX_VALUES && value.every(isValue);
}
