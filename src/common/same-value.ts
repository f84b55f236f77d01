import { isDeepStrictEqual } from 'node:util';

/** Whether a column would hold the same: of what comes from a body, parts may be instances of classes, which what is stored never is. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(asStored(one), asStored(other));
}

function asStored(value: unknown): unknown {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);
  return isJson ? JSON.parse(JSON.stringify(value)) : value;
}
