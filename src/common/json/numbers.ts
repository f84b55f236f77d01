import { endOfString, QUOTE } from './scan.js';
import { randomUUID } from 'node:crypto';
import { isObject } from './read.js';

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** What else a number may have: a sign, a point, an exponent. */
const IN_NUMBERS: ReadonlySet<number | undefined> = new Set(Buffer.from('+-.eE'));

/**
 * The text with something else in the place of some of its numbers. It must be JSON.
 * @param replacement told where a number begins and ends; undefined: it stays
 */
function replaceNumbers(json: Buffer, replacement: (start: number, end: number) => string | undefined): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === MINUS || isDigit(byte)) {
      const end = endOfNumber(json, at);
      const text = replacement(at, end);
      if (text !== undefined) {
        parts.push(json.toString('utf8', copied, at), text);
        copied = end;
      }
      at = end - 1;
    }
  }
  return parts.join('') + json.toString('utf8', copied);
}

function endOfNumber(json: Buffer, start: number): number {
  let end = start + 1;
  while (isDigit(json[end]) || IN_NUMBERS.has(json[end])) end += 1;
  return end;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/**
 * JSON with every number as the text that stands there: `JSON.parse` would make a float of it, and lose digits.
 * @throws SyntaxError
 */
export function parseWithNumbersAsText(json: string): unknown {
  JSON.parse(json); // after this, what looks like a number is one
  const bytes = Buffer.from(json);
  return JSON.parse(replaceNumbers(bytes, (start, end) => `"${bytes.toString('latin1', start, end)}"`));
}

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
