import { Transform, type TransformFnParams } from 'class-transformer';
import { ValidateIf, type ValidationOptions } from 'class-validator';

function present(_object: object, value: unknown): boolean {
  return value !== undefined;
}

/** The setting has no default; its name must be in the list of optional names. */
export const OptionalSetting = (options?: ValidationOptions): PropertyDecorator => ValidateIf(present, options);
/** Items between commas. */
export const ToList = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : value,
  );
