import { buildMessage, ValidateBy } from 'class-validator';
import { isReservedSegment } from '../http/reserved-segments.js';

/** For slugs that are the first part of an address. */
export function IsNotReserved(): PropertyDecorator {
  return ValidateBy({
    name: 'isNotReserved',
    validator: {
      validate: (value: unknown) => typeof value !== 'string' || !isReservedSegment(value),
      defaultMessage: buildMessage(() => '$property is reserved'),
    },
  });
}
