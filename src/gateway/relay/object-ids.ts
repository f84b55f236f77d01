import { isObject, type JsonObject } from '../../common/json/read.js';

/** What callers note for themselves: it may hold anything, under any name. */
const NOTES = 'metadata';

/** The ids that a body holds in fields of this name, at any depth, alone or in a list. */
export function usedIds(body: unknown, name: string): readonly string[] {
  if (Array.isArray(body)) return body.flatMap((item) => usedIds(item, name));
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([field, value]) => {
    if (field === NOTES) return [];
    return field === name ? [...idsIn(value), ...usedIds(value, name)] : usedIds(value, name);
  });
}

/**
 * The ids in a field of an answer: of the resource, or of each item of a list. Not deeper, where an answer may repeat what
 * its request said.
 */
export function answeredIds(answer: unknown, name: string): readonly string[] {
  if (!isObject(answer)) return [];
  const { data } = answer;
  const resources: readonly unknown[] = Array.isArray(data) ? data : [answer];
  return resources.filter((resource) => isObject(resource)).flatMap((resource: JsonObject) => idsIn(resource[name]));
}

function idsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
}
