import type { ValidationError } from 'class-validator';
import { fieldError, type ErrorDetail, type GatewayError, invalidFields } from '../errors/gateway.error.js';
import { withoutMark } from './inherited-names.js';

/** The names that class-validator has for rules. */
const UNKNOWN_FIELD = 'whitelistValidation';
/** Of a list or an object whose parts have rules. It comes last. */
const NESTED = 'nestedValidation';

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

/** As the rules are written: the type of a value comes before its bounds. class-validator has them the other way round. */
function rulesOf({ constraints, property }: ValidationError, path: string): readonly ErrorDetail[] {
  const { [NESTED]: nested, ...own } = constraints ?? {};
  const rules = Object.entries(own).toReversed();
  return (nested === undefined ? rules : [...rules, [NESTED, nested] as const]).map(([rule, message]) =>
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
