import { randomUUID } from 'node:crypto';
import { replaceNumbers } from './json-numbers.js';
import { isObject } from './read.js';

/** 2^53 has so many digits. */
const LONG = 16;
const WHOLE = /^-?\d+$/;
/** In front of a long number, which is a text meanwhile. Nobody outside can know it, and it never goes there. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Whether something that `JSON.parse` has read had a number beyond 2^53: a 64-bit id, for example. */
export function hasLongNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (Array.isArray(value)) return value.some(hasLongNumbers);
  return isObject(value) && Object.values(value).some(hasLongNumbers);
}

/**
 * The value of a JSON text in which whole numbers beyond 2^53 are texts, of which only `stringifyLongNumbers` makes what they were.
 * Numbers with a point or an exponent stay numbers: whoever reads them as doubles reads the same.
 */
export function parseLongNumbers(json: Buffer): unknown {
  const marked = replaceNumbers(json, (start, end) => {
    if (end - start < LONG) return undefined;
    const number = json.toString('latin1', start, end);
    return WHOLE.test(number) && !Number.isSafeInteger(Number(number)) ? `"${MARK}${number}"` : undefined;
  });
  return JSON.parse(marked);
}

export function stringifyLongNumbers(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}
