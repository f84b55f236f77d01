export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the string that begins at `start` has its closing quote; the end of the text when it has none. */
export function endOfString(json: Buffer, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end === -1 ? json.length : end;
}

/** A quote behind an odd number of backslashes belongs to the string. */
function isEscaped(json: Buffer, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
