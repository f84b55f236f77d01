import { applyDecorators } from '@nestjs/common';
import { buildMessage, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { isReservedSegment, SLUG_PATTERN } from '../slug.js';
import { isUuid } from '../uuid.js';

/** At most 255 letters, digits, `_` and `-`. Never in the form of an id, or references would be ambiguous. */
export function IsSlug(): PropertyDecorator {
  return applyDecorators(IsString(), MaxLength(255), Matches(SLUG_PATTERN), IsNoId());
}

function IsNoId(): PropertyDecorator {
  return ValidateBy({
    name: 'isNoId',
    validator: {
      validate: (value: unknown) => typeof value !== 'string' || !isUuid(value),
      defaultMessage: buildMessage(() => '$property must not have the form of an id (a UUID)'),
    },
  });
}

/** For slugs that are the first segment of a path. */
export function IsNotReserved(): PropertyDecorator {
  return ValidateBy({
    name: 'isNotReserved',
    validator: {
      validate: (value: unknown) => typeof value !== 'string' || !isReservedSegment(value),
      defaultMessage: buildMessage(() => '$property is reserved'),
    },
  });
}
