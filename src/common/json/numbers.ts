import { endOfString, QUOTE } from './scan.js';
import { randomUUID } from 'node:crypto';
import { isObject } from './read.js';

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** Other characters of a number: signs, the decimal point, the exponent. */
const IN_NUMBERS: ReadonlySet<number | undefined> = new Set(Buffer.from('+-.eE'));

/**
 * Replaces some of the numbers of a JSON text.
 * @param replacement receives where a number begins and ends; returns undefined to keep it
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
 * Parses JSON and keeps every number as its text. `JSON.parse` would make a float of it and lose digits.
 * @throws SyntaxError
 */
export function parseWithNumbersAsText(json: string): unknown {
  JSON.parse(json); // after this, what looks like a number is one
  const bytes = Buffer.from(json);
  return JSON.parse(replaceNumbers(bytes, (start, end) => `"${bytes.toString('latin1', start, end)}"`));
}

/** The number of digits of 2^53. */
const LONG = 16;
const WHOLE = /^-?\d+$/;
/** Prefix of a long number while it is held as text. Random, and never sent, so that no client can forge it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Whether a parsed value has a number beyond 2^53, for example a 64-bit id. */
export function hasLongNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (Array.isArray(value)) return value.some(hasLongNumbers);
  return isObject(value) && Object.values(value).some(hasLongNumbers);
}

/**
 * Parses JSON and keeps whole numbers beyond 2^53 as marked texts, which `stringifyLongNumbers` turns back into
 * numbers. Numbers with a decimal point or an exponent stay numbers, since other readers use doubles too.
 */
export function parseLongNumbers(json: Buffer): unknown {
  const marked = replaceNumbers(json, (start, end) => {
    if (end - start < LONG) return undefined;
    const number = json.toString('latin1', start, end);
    return WHOLE.test(number) && !Number.isSafeInteger(Number(number)) ? `"${MARK}${number}"` : undefined;
  });
  return JSON.parse(marked);
}

/**
 * Parses JSON and keeps, as a marked text, each number that a double would change: one with more digits, or beyond its range.
 * `textOfValue` returns its digits.
 * @throws SyntaxError
 */
export function parseExactNumbers(json: string): unknown {
  const value: unknown = JSON.parse(json); // after this, what looks like a number is one
  if (!mayHaveInexactNumbers(json)) return value;
  const bytes = Buffer.from(json);
  let marks = 0;
  return JSON.parse(
    replaceNumbers(bytes, (start, end) => {
      if (marks >= MAX_MARKS) return undefined;
      const number = bytes.toString('latin1', start, end);
      if (!isInexact(number)) return undefined;
      marks += 1;
      return `"${MARK}${number}"`;
    }),
  );
}

/** Whether `parseExactNumbers` may find a number to mark. Most texts have none, and this look at them is cheap. */
export function mayHaveInexactNumbers(json: string): boolean {
  return MAY_BE_INEXACT.test(json);
}

/** Where a value begins: enough digits, or an exponent. Base64, which has both, has no such beginnings. */
const MAY_BE_INEXACT = /(?:^|[:,[])\s*-?(?:[\d.]{16}|[\d.]+[eE])/;
/** Of one text. Each costs as much as a string; what comes behind them stays a double. */
const MAX_MARKS = 50_000;
/** Every decimal number with so many digits survives a double. */
const SAFE_DIGITS = 15;

function isInexact(number: string): boolean {
  const value = Number(number);
  // As programs write a double, with up to 17 digits.
  if (String(value) === number) return false;
  const digits = number.replace(/e.*$/i, '').replace(/[-.]/g, '').replace(/^0+/, '');
  return digits.length > SAFE_DIGITS || !Number.isFinite(value) || (value === 0 && digits !== '');
}

/** A text as it is, any other value of `parseExactNumbers` as JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' && !value.startsWith(MARK) ? value : stringifyLongNumbers(value);
}

/** A value of `parseExactNumbers` with doubles, except within the objects under these names. */
export function withDoublesOutside(value: unknown, names: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? Number(value.slice(MARK.length)) : value;
  if (Array.isArray(value)) return value.map((each) => withDoublesOutside(each, names));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, each]) => {
    const isKept = names.has(name) && isObject(each);
    return [name, isKept ? each : withDoublesOutside(each, names)] as const;
  });
  return Object.fromEntries(members);
}

export function stringifyLongNumbers(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}
