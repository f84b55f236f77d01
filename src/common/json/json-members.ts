import { endOfString, QUOTE } from './json-strings.js';

const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * How many members the outermost object of a JSON text writes down. More than the parsed object has fields when a name
 * comes twice, however it is spelled: the parser keeps the last of them, and another parser may keep the first. The text
 * must be valid JSON and an object.
 */
export function countMembers(json: Buffer): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === COLON && depth === 1) members += 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return members;
}
