import { Transform, type TransformFnParams } from 'class-transformer';
import { ValidateIf, type ValidationOptions } from 'class-validator';

function present(_object: object, value: unknown): boolean {
  return value !== undefined;
}

/** The setting has no default; its name must be in the list of optional names. */
export const OptionalSetting = (options?: ValidationOptions): PropertyDecorator => ValidateIf(present, options);
/** Rules for the address of a service, which may be a bare host name as containers have it. */
export const SERVICE_ADDRESS = { require_protocol: true, require_tld: false, allow_underscores: true };
export const WEB_ADDRESS = { ...SERVICE_ADDRESS, protocols: ['http', 'https'] };
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
