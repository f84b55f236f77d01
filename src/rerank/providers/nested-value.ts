import { isObject } from '../../common/json/read.js';

/** A nested value of foreign JSON, undefined where the way to it ends: for fields that only inform. */
export function nestedValue(value: unknown, ...names: readonly string[]): unknown {
  let current = value;
  for (const name of names) current = isObject(current) ? current[name] : undefined;
  return current;
}
