import { isObject, type JsonObject } from '../json/read.js';
import { Transform, type TransformFnParams } from 'class-transformer';

/** Before a name that every object has. No class has a field of such a name, so that the validator refuses it. */
const MARK = '\u0000';

/** Of each copy that was made here. */
const originals = new WeakMap<object, JsonObject>();

/**
 * Whether every object has a field of this name (`__proto__`, `constructor`, `toString` …). class-transformer and Nest's pipe
 * leave such fields out without a word, at any depth, and class-transformer fails where it takes `constructor` for a class.
 */
function isInheritedName(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

/**
 * A copy of JSON for class-transformer in which such fields are marked, and so refused where they do not belong. What was sent is
 * still there for fields that are `@AsGiven()`.
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

/** The name as it was sent. */
export function withoutMark(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

/** What a copy was made from; anything else itself. */
function originalOf(object: object): object {
  return originals.get(object) ?? object;
}

/** For objects whose fields may have any name: the value goes on as it came, and not as class-transformer's copy of it. */
export function AsGiven(): PropertyDecorator {
  return Transform(({ value, obj, key }: TransformFnParams): unknown => {
    const given: unknown = Reflect.get(originalOf(obj), key);
    // Of text in a query, another decorator has made the object.
    return typeof given === 'object' ? given : value;
  });
}
