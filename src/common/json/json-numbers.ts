import { endOfString, QUOTE } from './json-strings.js';

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** What else a number may have: a sign, a point, an exponent. */
const IN_NUMBERS: ReadonlySet<number | undefined> = new Set(Buffer.from('+-.eE'));

/**
 * The text with something else in the place of some of its numbers. It must be JSON.
 * @param replacement told where a number begins and ends; undefined: it stays
 */
export function replaceNumbers(json: Buffer, replacement: (start: number, end: number) => string | undefined): string {
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
