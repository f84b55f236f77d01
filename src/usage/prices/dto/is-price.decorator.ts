import { ValidateBy, type ValidationArguments } from 'class-validator';

const FORM = /^\d{1,12}(?:\.\d{1,18})?$/;

/** A decimal number in a string: up to 12 digits, and up to 18 behind the point. */
export function IsPrice(): PropertyDecorator {
  return ValidateBy({
    name: 'isPrice',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && FORM.test(value),
      defaultMessage: (args?: ValidationArguments) =>
        typeof args?.value === 'number'
          ? '$property must be a string ("0.002"): a JSON number can lose digits on its way'
          : '$property must be a decimal number in a string, with up to 12 digits before the point and 18 behind it',
    },
  });
}
