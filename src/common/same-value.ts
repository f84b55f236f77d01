import { isDeepStrictEqual } from 'node:util';

/** Whether a column would hold equal values. Parts of a body may be instances of classes, stored values never are. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(asStored(one), asStored(other));
}

function asStored(value: unknown): unknown {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);
  return isJson ? JSON.parse(JSON.stringify(value)) : value;
}
