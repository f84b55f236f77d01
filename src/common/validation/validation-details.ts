import type { ValidationError } from 'class-validator';
import { fieldError, type ErrorDetail, type GatewayError, invalidFields } from '../errors/gateway.error.js';
import { withoutMark } from './inherited-names.js';

/** The name that class-validator has for the rule. */
const UNKNOWN_FIELD = 'whitelistValidation';

/** All broken rules as one 400: `param` is the first field, nested ones as `conditions.0.key`. */
export function toValidationError(errors: readonly ValidationError[]): GatewayError {
  return invalidFields(toDetails(errors));
}

/** @param parent the path of the object that was validated */
export function toDetails(errors: readonly ValidationError[], parent = ''): readonly ErrorDetail[] {
  return errors.flatMap((error) => detailsOf(error, parent));
}

function detailsOf(error: ValidationError, parent: string): readonly ErrorDetail[] {
  const name = withoutMark(error.property);
  const path = parent === '' ? name : `${parent}.${name}`;
  const own = isAbsent(error) ? [fieldError(path, 'is required')] : rulesOf(error, path);
  const nested = (error.children ?? []).flatMap((child) => detailsOf(child, path));
  return [...own, ...nested];
}

/** The rules of a value say nothing about one that is not there. */
function isAbsent({ target, property, constraints = {} }: ValidationError): boolean {
  const isOfRules = Object.keys(constraints).some((rule) => rule !== UNKNOWN_FIELD);
  return isOfRules && target !== undefined && Reflect.get(target, property) === undefined;
}

function rulesOf({ constraints, property }: ValidationError, path: string): readonly ErrorDetail[] {
  return Object.entries(constraints ?? {}).map(([rule, message]) =>
    rule === UNKNOWN_FIELD ? fieldError(path, 'is not a known field') : toDetail(message, property, path),
  );
}

/** Messages begin with the field; one that begins with `field.3.text` names a place inside it. */
function toDetail(message: string, property: string, path: string): ErrorDetail {
  if (!message.startsWith(property)) return { param: path, message: `${path}: ${message}` };
  const rest = message.slice(property.length);
  const inner = /^(?:\.[^\s]+)?/.exec(rest)?.[0] ?? '';
  return { param: path + inner, message: path + rest };
}
