import { isUtf8 } from 'node:buffer';
import { GatewayError, invalidField } from '../errors/gateway.error.js';
import { foldField } from './field-names.js';
import type { JsonObject } from './read.js';
import { JSON_TOKEN, type LastString, stringAt, walkJson } from './scan.js';

/** Of a value that is read. Names of models, numbers and switches are shorter. */
const MAX_VALUE_BYTES = 4_096;
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Reads some members of the outermost object of a JSON text. What else is in it is not parsed, and may be anything.
 * @throws GatewayError `validation_failed` for a text that is not one object, and for a member that comes twice or in other case:
 * another reader might take the other one
 */
export function readMembers(json: Buffer, names: ReadonlySet<string>): JsonObject {
  if (!isUtf8(json)) throw new GatewayError('validation_failed', { message: 'The request body is not valid UTF-8.' });
  const members: Record<string, unknown> = {};
  let name: string | undefined;
  let start = 0;
  let end: number | undefined;
  walkJson(json, (token, at, depth, last) => {
    if (end !== undefined) return false;
    if (depth !== 1) return true;
    if (token === JSON_TOKEN.colon) {
      name = nameAt(json, last, names);
      if (name !== undefined && Object.hasOwn(members, name)) throw invalidField(name, 'must not be there twice');
      start = at + 1;
    } else if (token === JSON_TOKEN.comma || token === JSON_TOKEN.closeBrace) {
      if (name !== undefined) members[name] = valueAt(json, start, at, name);
      name = undefined;
      if (token === JSON_TOKEN.closeBrace) end = at + 1;
    }
    return true;
  });
  if (
    end === undefined ||
    byteAfterBlanks(json, end) !== undefined ||
    byteAfterBlanks(json, 0) !== JSON_TOKEN.openBrace
  ) {
    throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
  }
  return members;
}

/**
 * The JSON text of one member of the outermost object, whatever it is; undefined: there is none.
 * @throws GatewayError `validation_failed` where it comes twice or in other case
 */
export function memberText(json: Buffer, name: string): Buffer | undefined {
  const folded = foldField(name);
  let text: Buffer | undefined;
  let start: number | undefined;
  walkJson(json, (token, at, depth, last) => {
    if (depth !== 1) return true;
    const found = token === JSON_TOKEN.colon ? textAt(json, last) : undefined;
    if (found !== undefined && foldField(found) === folded) {
      if (found !== name) throw invalidField(found, `must be written ${name}`);
      if (text !== undefined) throw invalidField(name, 'must not be there twice');
      start = at + 1;
    } else if (start !== undefined && (token === JSON_TOKEN.comma || token === JSON_TOKEN.closeBrace)) {
      text = json.subarray(start, at);
      start = undefined;
    }
    return true;
  });
  return text;
}

/** The name, when it is one that is read. */
function nameAt(json: Buffer, last: Readonly<LastString>, names: ReadonlySet<string>): string | undefined {
  const found = textAt(json, last);
  const name = foldField(found);
  if (!names.has(name)) return undefined;
  if (found !== name) throw invalidField(found, `must be written ${name}`);
  return name;
}

function textAt(json: Buffer, string: Readonly<LastString>): string {
  try {
    return stringAt(json, string);
  } catch {
    throw new GatewayError('validation_failed', { message: 'The request body has a name that is not valid JSON.' });
  }
}

function valueAt(json: Buffer, start: number, end: number, name: string): unknown {
  if (end - start > MAX_VALUE_BYTES) throw invalidField(name, `must have at most ${MAX_VALUE_BYTES} bytes`);
  try {
    return JSON.parse(json.toString('utf8', start, end));
  } catch {
    throw invalidField(name, 'must be valid JSON');
  }
}

function byteAfterBlanks(json: Buffer, start: number): number | undefined {
  let at = start;
  while (BLANK.has(json[at] ?? 0)) at += 1;
  return json[at];
}
