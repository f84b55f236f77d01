export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position of the closing quote of the string that begins at `start`; the end of the text when there is none. */
export function endOfString(json: Buffer, start: number): number {
  for (let end = json.indexOf(QUOTE, start + 1); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    // A quote after an odd number of backslashes is escaped.
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
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

/** The positions of the quotes of the last string. Before a colon, that string is the key. */
export interface LastString {
  start: number;
  end: number;
}

/**
 * Called for each token outside of strings. `depth` counts the arrays and objects around the token, its own included.
 * Returns false to stop.
 */
export type TokenVisitor = (token: number, at: number, depth: number, last: Readonly<LastString>) => boolean;

/** Visits the tokens of a JSON text. Also terminates for other texts, with unspecified tokens. */
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

/** The unescaped text of a string. */
export function stringAt(json: Buffer, { start, end }: Readonly<LastString>): string {
  const text = json.toString('utf8', start, end + 1);
  if (!text.includes('\\')) return text.slice(1, -1);
  const read: unknown = JSON.parse(text);
  return String(read);
}

/**
 * Limit for JSON from outside: bodies, secrets, tags. Code that walks it recurses for each level, also in the database,
 * and would overflow its stack.
 */
export const MAX_JSON_DEPTH = 64;

/**
 * How many arrays and objects JSON from outside may have. Each costs the parser half a microsecond, ten times as much as a plain
 * value: four million of them would block the process for a second.
 */
export const MAX_JSON_CONTAINERS = 200_000;

/** How many texts and names a body may have. V8 looks up each short one in a table: 480,000 take a fifth of a second. */
export const MAX_JSON_STRINGS = 250_000;

/** Bounds of the structure of a JSON text. */
export interface JsonBounds {
  /** Arrays and objects around a value, itself included. */
  readonly depth: number;
  /** Arrays and objects in all. */
  readonly containers?: number;
  /** Texts and names in all. */
  readonly strings?: number;
  /** Fields of one object, names that come twice included. */
  readonly fields?: number;
}

/** `"":1` and a comma. */
const BYTES_OF_A_FIELD = 4;
/** `""` and a comma. */
const BYTES_OF_A_STRING = 3;

/** The bound that a JSON text exceeds, before it is parsed. The result is unspecified for text that is not JSON. */
export function excessOf(
  json: Buffer,
  {
    depth: maxDepth,
    containers: maxContainers = Infinity,
    strings: maxStrings = Infinity,
    fields: maxFields = Infinity,
  }: JsonBounds,
): keyof JsonBounds | undefined {
  const isShort = json.length <= Math.min(maxFields * BYTES_OF_A_FIELD, maxStrings * BYTES_OF_A_STRING);
  if (isShort && !hasMoreBracketsThan(json, Math.min(maxDepth, maxContainers))) return undefined;
  let excess: keyof JsonBounds | undefined;
  let containers = 0;
  let strings = 0;
  let lastString = 0;
  /** Of the object that is open at each depth. */
  const fields: number[] = [];
  walkJson(json, (token, _at, depth, last) => {
    // A token follows each string.
    if (last.start !== lastString) {
      lastString = last.start;
      strings += 1;
      if (strings > maxStrings) excess = 'strings';
    }
    if (token === JSON_TOKEN.openBrace || token === JSON_TOKEN.openBracket) {
      containers += 1;
      fields[depth] = 0;
      if (depth > maxDepth) excess = 'depth';
      else if (containers > maxContainers) excess = 'containers';
    } else if (token === JSON_TOKEN.colon) {
      const count = (fields[depth] ?? 0) + 1;
      fields[depth] = count;
      if (count > maxFields) excess = 'fields';
    }
    return excess === undefined;
  });
  return excess;
}

/**
 * Whether JSON text nests arrays and objects more than `limit` deep. The result is unspecified for text that is not
 * JSON.
 */
export function isDeeperThan(json: Buffer, limit: number): boolean {
  return excessOf(json, { depth: limit }) !== undefined;
}

/** A cheap first check, since most bodies have few brackets: native searches that stop after `limit` hits, in strings as well. */
function hasMoreBracketsThan(json: Buffer, limit: number): boolean {
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

/**
 * Counts the members of the outermost object of a JSON text. The count exceeds the fields of the parsed object when a
 * name occurs twice: this parser keeps the last one, another may keep the first. The text must be a valid JSON object.
 */
export function countMembers(json: Buffer): number {
  let members = 0;
  walkJson(json, (token, _at, depth) => {
    if (token === JSON_TOKEN.colon && depth === 1) members += 1;
    return true;
  });
  return members;
}

/**
 * The JSON text with another value for each member of its outermost object that has this name, and every other byte as it is, the
 * spaces around the value included.
 */
export function withMember(json: Buffer, name: string, value: unknown): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  let isMeant = false;
  walkJson(json, (token, at, depth, last) => {
    if (depth !== 1) return true;
    if (token === JSON_TOKEN.colon) {
      isMeant = stringAt(json, last) === name;
      if (isMeant) {
        let start = at + 1;
        while (isSpace(json[start])) start += 1;
        parts.push(json.subarray(copied, start), Buffer.from(JSON.stringify(value)));
      }
    } else if (isMeant && (token === JSON_TOKEN.comma || token === JSON_TOKEN.closeBrace)) {
      copied = at;
      while (isSpace(json[copied - 1])) copied -= 1;
      isMeant = false;
    }
    return true;
  });
  return Buffer.concat([...parts, json.subarray(copied)]);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The JSON text of an object, with another member before those that it has. */
export function withFirstMember(json: Buffer, name: string, value: unknown): Buffer {
  const start = json.indexOf(JSON_TOKEN.openBrace) + 1;
  let next = start;
  while (isSpace(json[next])) next += 1;
  const comma = json[next] === JSON_TOKEN.closeBrace ? '' : ',';
  const member = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}${comma}`);
  return Buffer.concat([json.subarray(0, start), member, json.subarray(start)]);
}
