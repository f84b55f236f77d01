import type { ValidationError } from 'class-validator';
import { type ErrorDetail, GatewayError, invalidFields } from '../errors/gateway.error.js';
import { withoutMark } from './inherited-names.js';

/** All broken rules as one 400: `param` is the first field, nested ones as `conditions.0.key`. */
export function toValidationError(errors: readonly ValidationError[]): GatewayError {
  return invalidFields(errors.flatMap((error) => detailsOf(error, '')));
}

function detailsOf(error: ValidationError, parent: string): readonly ErrorDetail[] {
  const name = withoutMark(error.property);
  const path = parent === '' ? name : `${parent}.${name}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    toDetail(rule, message, error.property, path),
  );
  const nested = (error.children ?? []).flatMap((child) => detailsOf(child, path));
  return [...own, ...nested];
}

/** Messages begin with the field; one that begins with `field.3.text` names a place inside it. */
function toDetail(rule: string, message: string, property: string, path: string): ErrorDetail {
  if (rule === 'whitelistValidation') return { param: path, message: `${path} is not a known field` };
  if (!message.startsWith(property)) return { param: path, message: `${path}: ${message}` };
  const rest = message.slice(property.length);
  const inner = /^(?:\.[^\s]+)?/.exec(rest)?.[0] ?? '';
  return { param: path + inner, message: path + rest };
}
