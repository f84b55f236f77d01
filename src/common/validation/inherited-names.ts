import { isObject, type JsonObject } from '../json/read.js';
import { Transform, type TransformFnParams } from 'class-transformer';

/** Prefix that marks an inherited name. No class has a field with this prefix, so the validator refuses it. */
const MARK = '\u0000';

/** The original of each copy. */
const originals = new WeakMap<object, JsonObject>();

/**
 * Whether every object inherits a field of this name (`__proto__`, `constructor`, `toString` …). class-transformer and
 * Nest's pipe drop such fields silently, at any depth, and class-transformer fails where it takes `constructor` for a
 * class.
 */
function isInheritedName(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

/**
 * Copies JSON for class-transformer and marks inherited names, so that they are refused where they do not belong.
 * `@AsGiven()` fields still get the original.
 */
export function markInheritedNames(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(markInheritedNames);
  if (!isObject(json)) return json;
  const entries = Object.entries(json).map(([name, value]): [string, unknown] => [
    isInheritedName(name) ? MARK + name : name,
    markInheritedNames(value),
  ]);
  const copy = Object.fromEntries(entries);
  originals.set(copy, json);
  return copy;
}

/** The name as the client sent it. */
export function withoutMark(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

/** The original of a copy; any other object unchanged. */
function originalOf(object: object): object {
  return originals.get(object) ?? object;
}

/** For objects with free field names: keeps the value as it was sent instead of class-transformer's copy. */
export function AsGiven(): PropertyDecorator {
  return Transform(({ value, obj, key }: TransformFnParams): unknown => {
    const given: unknown = Reflect.get(originalOf(obj), key);
    // For text in a query, another decorator has parsed the object.
    return typeof given === 'object' ? given : value;
  });
}
