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

/**
 * Of JSON that comes from outside: bodies, secrets, tags. What walks it, the database included, calls itself for each level,
 * and would overflow its stack.
 */
export const MAX_JSON_DEPTH = 64;

/** Whether JSON text nests arrays and objects more than `limit` deep. Text that is no JSON may get either answer. */
export function isDeeperThan(json: Buffer, limit: number): boolean {
  return opensMoreThan(json, limit) && nestsMoreThan(json, limit);
}

/** A cheap first look, since most bodies have few brackets: native searches that end after `limit` hits. */
function opensMoreThan(json: Buffer, limit: number): boolean {
  let count = 0;
  for (const bracket of [JSON_TOKEN.openBrace, JSON_TOKEN.openBracket]) {
    let at = json.indexOf(bracket);
    while (at !== -1 && count <= limit) {
      count += 1;
      at = json.indexOf(bracket, at + 1);
    }
  }
  return count > limit;
}

function nestsMoreThan(json: Buffer, limit: number): boolean {
  let isDeeper = false;
  walkJson(json, (_token, _at, depth) => {
    isDeeper = depth > limit;
    return !isDeeper;
  });
  return isDeeper;
}

/**
 * How many members the outermost object of a JSON text writes down. More than the parsed object has fields when a name
 * comes twice, however it is spelled: the parser keeps the last of them, and another parser may keep the first. The text
 * must be valid JSON and an object.
 */
export function countMembers(json: Buffer): number {
  let members = 0;
  walkJson(json, (token, _at, depth) => {
    if (token === JSON_TOKEN.colon && depth === 1) members += 1;
    return true;
  });
  return members;
}
