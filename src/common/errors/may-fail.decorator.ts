import type { ErrorCode } from './error-codes.js';

const MAY_FAIL = 'tollgate:may-fail';

/**
 * Declares errors of a route that do not follow from its callers, parameters and body, for the OpenAPI document.
 * Several decorators add up.
 */
export function MayFail(...codes: readonly ErrorCode[]): MethodDecorator {
  return (_prototype, _name, { value: handler }: PropertyDescriptor): void => {
    Reflect.defineMetadata(MAY_FAIL, [...declaredErrors(handler), ...codes], handler);
  };
}

/** The codes that `MayFail` gave a handler. */
export function declaredErrors(handler: object): readonly unknown[] {
  const codes: unknown = Reflect.getMetadata(MAY_FAIL, handler);
  return Array.isArray(codes) ? codes : [];
}
