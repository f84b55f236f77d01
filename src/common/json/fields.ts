import { foldField } from './field-names.js';
import { JSON_TOKEN, type LastString, MAX_JSON_STRINGS, stringAt, walkJson } from './scan.js';

/** Of a name or a short text, each of whose characters may be escaped with six bytes. */
const MAX_READ_BYTES = 256;
const SHORTEST_NAME = 3;
const SPACE = 0x20;
const FIRST_OF_NULL = 0x6e;

/** A field of an object in a JSON text, at any depth. */
export interface JsonField {
  /** In lower case, as a provider may read it; empty when it is very short or long. */
  readonly name: string;
  /** The name of the outermost field that it stands in, its own included. */
  readonly member: string;
  /** The text that it has, in lower case; of a long one only the beginning, as it is written. undefined: it has no text. */
  readonly text: string | undefined;
  /** Of the text, with its quotes. */
  readonly bytes: number;
  readonly isNull: boolean;
  /** Where its object begins. */
  readonly object: number;
  /** Objects and lists around it. */
  readonly depth: number;
  /** Where its value begins, or the spaces before it. */
  readonly start: number;
  /** Where its value ends, or, of an object or a list, where that begins. */
  readonly end: number;
}

/**
 * Visits all fields of a JSON text, whatever its parser makes of escapes and case. Nothing is parsed.
 * @returns whether it came to the end: it stops when there are more fields than any honest body has
 */
export function walkFields(json: Buffer, visit: (field: JsonField) => void): boolean {
  const objects: number[] = [];
  let member = '';
  let name: string | undefined;
  let colon = 0;
  let fields = 0;
  walkJson(json, (token, at, depth, last) => {
    const isOpening = token === JSON_TOKEN.openBrace || token === JSON_TOKEN.openBracket;
    if (name !== undefined) {
      const isText = last.start > colon;
      const text = isText ? beginningAt(json, last) : undefined;
      const around = isOpening ? depth - 1 : depth;
      visit({
        name,
        member,
        text,
        bytes: isText ? last.end - last.start + 1 : 0,
        isNull: !isText && isNullAt(json, colon + 1, at),
        object: objects[around] ?? 0,
        depth: around,
        start: colon + 1,
        end: at,
      });
      name = undefined;
    }
    if (isOpening) objects[depth] = at;
    else if (token === JSON_TOKEN.colon) {
      fields += 1;
      colon = at;
      name = nameAt(json, last);
      if (depth === 1) member = name;
    }
    return fields <= MAX_JSON_STRINGS;
  });
  return fields <= MAX_JSON_STRINGS;
}

/** Nothing else that is a value has this letter first. */
function isNullAt(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = json[at] ?? 0;
    if (byte > SPACE) return byte === FIRST_OF_NULL;
  }
  return false;
}

function nameAt(json: Buffer, { start, end }: Readonly<LastString>): string {
  const length = end - start - 1;
  return length < SHORTEST_NAME || length > MAX_READ_BYTES ? '' : foldField(decoded(json, { start, end }));
}

function beginningAt(json: Buffer, { start, end }: Readonly<LastString>): string {
  if (end - start > MAX_READ_BYTES) return json.toString('latin1', start + 1, start + MAX_READ_BYTES);
  return foldField(decoded(json, { start, end }));
}

function decoded(json: Buffer, string: Readonly<LastString>): string {
  try {
    return stringAt(json, string);
  } catch {
    // An escape that JSON does not have.
    return '';
  }
}
