import { fieldError, type FieldProblem } from '../../common/errors/gateway.error.js';
import type { Provider } from './provider.types.js';

/** The problem of a missing or superfluous `key` of a virtual key. */
export function keyProblems(rule: Provider['key'], key: string | undefined): readonly FieldProblem[] {
  if (rule === 'required' && isMissing(key)) return [{ param: 'key', message: 'key is required for this provider' }];
  if (rule === 'none' && key !== undefined) return [{ param: 'key', message: 'key is not used by this provider' }];
  return [];
}

/** One problem for each of the named options that is missing. */
export function missingOptions<Options extends object>(
  options: Options,
  names: readonly (keyof Options & string)[],
  when = 'for this provider',
): readonly FieldProblem[] {
  return names.filter((name) => isMissing(options[name])).map((name) => problem(name, `is required ${when}`));
}

/** One problem for each of the named options that is set but not used. */
export function unusedOptions<Options extends object>(
  options: Options,
  names: readonly (keyof Options & string)[],
  when: string,
): readonly FieldProblem[] {
  return names.filter((name) => options[name] !== undefined).map((name) => problem(name, `is not used ${when}`));
}

function problem(name: string, message: string): FieldProblem {
  return fieldError(`config.${name}`, message);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === '';
}
