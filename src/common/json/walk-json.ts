import { endOfString, QUOTE } from './json-strings.js';

/** The bytes that give a JSON text its structure. */
export const JSON_TOKEN = {
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/** The string that ended last: where its quotes are. Before a colon, that is the key. */
export interface LastString {
  start: number;
  end: number;
}

/**
 * Told of each token outside of strings. `depth`: how many arrays and objects the token is in; a bracket is in its own.
 * Returns whether to go on.
 */
export type TokenVisitor = (token: number, at: number, depth: number, last: Readonly<LastString>) => boolean;

/** Walks through a JSON text. It also ends for what is no JSON, but what it reports of that is unspecified. */
export function walkJson(json: Buffer, visit: TokenVisitor): void {
  const last: LastString = { start: 0, end: 0 };
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    switch (byte) {
      case QUOTE:
        last.start = at;
        at = endOfString(json, at);
        last.end = at;
        break;
      case JSON_TOKEN.openBrace:
      case JSON_TOKEN.openBracket:
        depth += 1;
        if (!visit(byte, at, depth, last)) return;
        break;
      case JSON_TOKEN.closeBrace:
      case JSON_TOKEN.closeBracket:
        if (!visit(byte, at, depth, last)) return;
        depth -= 1;
        break;
      case JSON_TOKEN.colon:
      case JSON_TOKEN.comma:
        if (!visit(byte, at, depth, last)) return;
        break;
      default:
    }
  }
}

/** The text of a string, read. `last` is where it stands. */
export function stringAt(json: Buffer, { start, end }: Readonly<LastString>): string {
  const text = json.toString('utf8', start, end + 1);
  if (!text.includes('\\')) return text.slice(1, -1);
  const read: unknown = JSON.parse(text);
  return String(read);
}
