import { randomUUID } from 'node:crypto';
import { isDigit, replaceNumbers } from './json-numbers.js';
import { isObject } from './read.js';

/** The longest whole number of which a double may hold all digits, without its sign. */
const MAX_EXACT_DIGITS = 16;
const MINUS = 0x2d;
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
    const digits = end - start - (json[start] === MINUS ? 1 : 0);
    if (digits < MAX_EXACT_DIGITS || !isWhole(json, start, end)) return undefined;
    const number = json.toString('latin1', start, end);
    return digits === MAX_EXACT_DIGITS && Number.isSafeInteger(Number(number)) ? undefined : `"${MARK}${number}"`;
  });
  return JSON.parse(marked);
}

export function stringifyLongNumbers(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}

function isWhole(json: Buffer, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at += 1) if (!isDigit(json[at])) return false;
  return true;
}
