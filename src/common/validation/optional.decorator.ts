import { ValidateIf } from 'class-validator';

/** The field may be absent. `null` is not absent: it is checked like any other value. */
export function Optional(): PropertyDecorator {
  return ValidateIf((_object: object, value: unknown) => value !== undefined);
}

/** The field may be absent or `null`. */
export function OptionalOrNull(): PropertyDecorator {
  return ValidateIf((_object: object, value: unknown) => value !== undefined && value !== null);
}
