import { ValidateBy, ValidateIf, type ValidationOptions } from 'class-validator';

function present(_object: object, value: unknown): boolean {
  return value !== undefined;
}

/** The setting has no default. */
export const OptionalSetting = (options?: ValidationOptions): PropertyDecorator => ValidateIf(present, options);

/** The address of a service as a URL. Its host may be a bare name, as containers have it. */
export function IsAddress(protocols: readonly string[], options?: ValidationOptions): PropertyDecorator {
  const beginnings = protocols.map((protocol) => `${protocol}://`);
  const message = `$property must be a URL that begins with ${beginnings.join(' or ')}`;
  return ValidateBy({ name: 'isAddress', validator: { validate: isAddress } }, { message, ...options });

  function isAddress(value: unknown): boolean {
    if (typeof value !== 'string' || /\s/.test(value) || !URL.canParse(value)) return false;
    return beginnings.some((beginning) => value.toLowerCase().startsWith(beginning));
  }
}

export const IsWebAddress = (options?: ValidationOptions): PropertyDecorator => IsAddress(['http', 'https'], options);
