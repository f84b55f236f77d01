import { foldField } from './field-names.js';
import { JSON_TOKEN, type LastString, MAX_JSON_STRINGS, stringAt, walkJson } from './scan.js';

/** Of a name or a short text, each of whose characters may be escaped with six bytes. */
const MAX_READ_BYTES = 256;
const SHORTEST_NAME = 3;
const SPACE = 0x20;
const FIRST_OF_NULL = 0x6e;
const UNDERSCORE = 0x5f;
const LETTER_A = 0x61;
const LETTER_Z = 0x7a;

/** A field of an object in a JSON text, at any depth. Its value is read when it is asked for: most are never looked at. */
export class JsonField {
  readonly #json: Buffer;
  /** Positions of the quotes around the name. */
  readonly #first: number;
  readonly #last: number;

  constructor(
    json: Buffer,
    /** In lower case, as a provider may read it; empty when it is very short or long. */
    readonly name: string,
    /** The name of the outermost field that it stands in, its own included. */
    readonly member: string,
    /** Objects and lists around it. */
    readonly depth: number,
    /** Where its object begins. */
    readonly object: number,
    /** Where its value begins, or the spaces before it. */
    readonly start: number,
    /** Where its value ends, or, of an object or a list, where that begins. */
    readonly end: number,
    lastString: Readonly<LastString>,
  ) {
    this.#json = json;
    this.#first = lastString.start;
    this.#last = lastString.end;
  }

  /** The text that it has, in lower case; of a long one only the beginning, as it is written. undefined: it has no text. */
  get text(): string | undefined {
    return this.#isText ? beginningAt(this.#json, { start: this.#first, end: this.#last }) : undefined;
  }

  /** Of the text, with its quotes. */
  get bytes(): number {
    return this.#isText ? this.#last - this.#first + 1 : 0;
  }

  get isNull(): boolean {
    return !this.#isText && isNullAt(this.#json, this.start, this.end);
  }

  get #isText(): boolean {
    return this.#first >= this.start;
  }
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
      const around = isOpening ? depth - 1 : depth;
      visit(new JsonField(json, name, member, around, objects[around] ?? 0, colon + 1, at, last));
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
  if (length < SHORTEST_NAME || length > MAX_READ_BYTES) return '';
  return plainNameAt(json, { start, end }) ?? foldField(decoded(json, { start, end }));
}

/** A name in lower case, as almost all are. To decode and to fold it would take three times as long. */
function plainNameAt(json: Buffer, { start, end }: Readonly<LastString>): string | undefined {
  let name = '';
  for (let at = start + 1; at < end; at += 1) {
    const byte = json[at] ?? 0;
    if (byte !== UNDERSCORE && (byte < LETTER_A || byte > LETTER_Z)) return undefined;
    name += String.fromCharCode(byte);
  }
  return name;
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
