import { isObject, type JsonObject } from '../json/read.js';

/** Of each copy that was made here. */
const originals = new WeakMap<object, JsonObject>();

/**
 * Whether every object has a field of this name (`__proto__`, `constructor`, `toString` …). class-transformer and Nest's pipe
 * leave such fields out without a word, at any depth.
 */
export function isInheritedName(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

/**
 * A copy of JSON for class-transformer, which takes a field `constructor` for a class where it knows none, and then fails. What
 * was left out is still there for fields that are `@AsGiven()`.
 */
export function withoutInheritedNames(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutInheritedNames);
  if (!isObject(json)) return json;
  const entries = Object.entries(json).filter(([name]) => !isInheritedName(name));
  const copy = Object.fromEntries(entries.map(([name, value]) => [name, withoutInheritedNames(value)]));
  originals.set(copy, json);
  return copy;
}

/** What a copy was made from; anything else itself. */
export function originalOf(object: object): object {
  return originals.get(object) ?? object;
}
