import { randomUUID } from 'node:crypto';
import { replaceNumbers } from './json-numbers.js';
import { isObject } from './read.js';

/** Every decimal of so many digits is itself again after it was a double (IEEE 754). */
const EXACT_DIGITS = 15;
/** `1e309` is the shortest that is infinite. */
const SHORTEST = 5;
/** In front of a long number, which is a text meanwhile. Nobody outside can know it, and it never goes there. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/**
 * Whether something that `JSON.parse` has read had a whole number that a double does not hold: a 64-bit id, for example. True for some
 * that it holds, too.
 */
export function mayHaveLongNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (Array.isArray(value)) return value.some(mayHaveLongNumbers);
  return isObject(value) && Object.values(value).some(mayHaveLongNumbers);
}

/**
 * The value of a JSON text, with the numbers that a double does not hold as texts, of which only `stringifyLongNumbers` makes what
 * they were. Undefined when there are none.
 */
export function parseLongNumbers(json: Buffer): { readonly value: unknown } | undefined {
  let isLong = false;
  const marked = replaceNumbers(json, (start, end) => {
    if (end - start < SHORTEST) return undefined;
    const number = json.toString('latin1', start, end);
    if (isExact(number)) return undefined;
    isLong = true;
    return `"${MARK}${number}"`;
  });
  return isLong ? { value: JSON.parse(marked) } : undefined;
}

export function stringifyLongNumbers(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}

function isExact(number: string): boolean {
  const exponent = number.search(/e/i);
  if (exponent === -1 && number.length <= EXACT_DIGITS) return true;
  const mantissa = exponent === -1 ? number : number.slice(0, exponent);
  const digits = mantissa.replaceAll(/[-.]/g, '').replaceAll(/^0+|0+$/g, '');
  return digits === '' || (digits.length <= EXACT_DIGITS && isNormal(Math.abs(Number(number))));
}

/** Neither infinite nor so small that a double has fewer digits for it. */
function isNormal(value: number): boolean {
  return value >= 2 ** -1022 && value < Infinity;
}
