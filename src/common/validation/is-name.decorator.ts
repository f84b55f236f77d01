import { applyDecorators } from '@nestjs/common';
import { buildMessage, IsString, Length, ValidateBy } from 'class-validator';
import { IsStorable } from './is-storable.decorator.js';

/** The name of a resource: at most 255 characters, and at least one that can be seen in a list. */
export function IsName(): PropertyDecorator {
  return applyDecorators(IsString(), Length(1, 255), IsStorable(), IsNotBlank());
}

function IsNotBlank(): PropertyDecorator {
  return ValidateBy({
    name: 'isNotBlank',
    validator: {
      // The rule about the length says more of an empty name.
      validate: (value: unknown) => typeof value !== 'string' || value === '' || value.trim() !== '',
      defaultMessage: buildMessage(() => '$property must have a character that is not a space'),
    },
  });
}
