import { isObject, type JsonObject } from '../../common/json/read.js';
import { isStorableText } from '../../common/storable-text.js';

/** What callers note for themselves: it may hold anything, under any name. */
const NOTES = 'metadata';

/**
 * Whether some provider may take the field for the one of this name: readers of JSON in Go and in .NET do not regard case.
 * By way of upper case, since Go also folds ſ and the Kelvin sign to their plain letters.
 */
export function isNamed(field: string, name: string): boolean {
  return field === name || field.toUpperCase().toLowerCase() === name.toLowerCase();
}

/** The ids that a body holds in fields of this name, in whatever spelling, at any depth, alone or in a list. */
export function usedIds(body: unknown, name: string): readonly string[] {
  if (Array.isArray(body)) return body.flatMap((item) => usedIds(item, name));
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([field, value]) => {
    if (isNamed(field, NOTES)) return [];
    return isNamed(field, name) ? [...idsIn(value), ...usedIds(value, name)] : usedIds(value, name);
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

/** In bytes, since an index of PostgreSQL takes no more than 2,704 of them; the column takes as many characters. */
const MAX_ID_BYTES = 1_024;

/** Whether the database can hold a provider's id. */
export function isRecordable(id: string): boolean {
  return isStorableText(id) && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

function idsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
}
