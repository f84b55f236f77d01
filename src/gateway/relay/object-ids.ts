import { isNamed } from '../../common/json/field-names.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { isStorableText } from '../../common/storable-text.js';

/** The callers' own notes, which may hold anything under any name. */
const NOTES = 'metadata';

/** The ids in fields of this name in a body, in any spelling, at any depth, alone or in a list. */
export function usedIds(body: unknown, name: string): readonly string[] {
  if (Array.isArray(body)) return body.flatMap((item) => usedIds(item, name));
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([field, value]) => {
    if (isNamed(field, NOTES)) return [];
    return isNamed(field, name) ? [...idsIn(value), ...usedIds(value, name)] : usedIds(value, name);
  });
}

/** Whether a body has a value in a field of one of these names, in any spelling, at any depth. */
export function hasField(body: unknown, names: readonly string[]): boolean {
  if (Array.isArray(body)) return body.some((item) => hasField(item, names));
  if (!isObject(body)) return false;
  return Object.entries(body).some(([field, value]) => {
    if (isNamed(field, NOTES)) return false;
    return (isGiven(value) && names.some((name) => isNamed(field, name))) || hasField(value, names);
  });
}

/**
 * The ids in a field of an answer: of the resource, or of each item of a list. Not deeper, where a response may repeat
 * parts of the request.
 */
export function answeredIds(answer: unknown, name: string): readonly string[] {
  if (!isObject(answer)) return [];
  const { data } = answer;
  const resources: readonly unknown[] = Array.isArray(data) ? data : [answer];
  return resources.filter((resource) => isObject(resource)).flatMap((resource: JsonObject) => idsIn(resource[name]));
}

/** In bytes, since an index entry of PostgreSQL is limited to 2,704 bytes. The column has as many characters. */
const MAX_ID_BYTES = 1_024;

/** Whether the database can store a provider's id. */
export function isRecordable(id: string): boolean {
  return isStorableText(id) && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null;
}

/** An id, or an object with its id, or a list of them. */
function idsIn(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.map((item) => (isObject(item) ? item['id'] : item)).filter((id) => typeof id === 'string');
}
