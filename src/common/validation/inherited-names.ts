/** Prefix that marks an inherited name. No class has a field with this prefix, so the validator refuses it. */
const MARK = '\u0000';

/** The name for class-transformer: inherited names are marked, so that they are refused where they do not belong. */
export function withMark(name: string): string {
  return isInheritedName(name) ? MARK + name : name;
}

/** The name as the client sent it. */
export function withoutMark(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

/**
 * Whether every object inherits a field of this name (`__proto__`, `constructor`, `toString` …). class-transformer and
 * Nest's pipe drop such fields silently, at any depth, and class-transformer fails where it takes `constructor` for a
 * class.
 */
function isInheritedName(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}
