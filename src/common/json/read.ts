import { foldId } from '../uuid.js';
import { excessOf, MAX_JSON_CONTAINERS, MAX_JSON_DEPTH } from './scan.js';

/** Thrown when foreign JSON does not have the expected shape. Says what was expected and where, never the value. */
export class UnexpectedShapeError extends Error {
  constructor(expected: string, path: string) {
    super(`expected ${expected} at ${path}`);
    this.name = 'UnexpectedShapeError';
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readObject(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw new UnexpectedShapeError('an object', path);
  return value;
}

export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnexpectedShapeError('an array', path);
  return value;
}

export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new UnexpectedShapeError('a string', path);
  return value;
}

export function readNumber(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new UnexpectedShapeError('a number', path);
  return value;
}

/** The string, or undefined when the field is absent, null or of another type: for fields that only inform. */
export function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The number, or undefined when the field is absent, null or of another type: for fields that only inform. */
export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

const BYTE_ORDER_MARK = 0xfeff;
/** An answer can wrap what a request sent. */
const BOUNDS = { depth: 2 * MAX_JSON_DEPTH, containers: MAX_JSON_CONTAINERS, fields: 100_000 };

/**
 * Parses JSON of another program, which may begin with a byte order mark (RFC 8259, section 8.1). Returns undefined
 * when the text is not JSON: the parser's error is dropped, since its message quotes the text. Also when it nests deeper, has
 * more lists and objects, or more fields in one object, than any honest answer: it would block the process.
 */
export function parseForeignJson(source: Buffer | string): unknown {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  if (isTooComplex(bytes)) return undefined;
  const text = typeof source === 'string' ? source : source.toString('utf8');
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Whether `parseForeignJson` refuses it for its structure. */
export function isTooComplex(json: Buffer): boolean {
  return excessOf(json, BOUNDS) !== undefined;
}

const ENCODED_MARK = Buffer.from(String.fromCharCode(BYTE_ORDER_MARK));

/** JSON text of another program without a byte order mark, which most parsers refuse. */
export function withoutByteOrderMark(json: Buffer): Buffer {
  const [first] = json;
  // One look at most bodies: nearly none has the mark.
  if (first !== ENCODED_MARK[0]) return json;
  return json.subarray(0, ENCODED_MARK.length).equals(ENCODED_MARK) ? json.subarray(ENCODED_MARK.length) : json;
}

/** The words of a claim: an array of strings, or one string with spaces between the words. */
export function claimWords(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

/** The ids of a claim, without duplicates and in the spelling that is stored. */
export function claimIds(claim: unknown): readonly string[] {
  return [...new Set(claimWords(claim).map(foldId))];
}
