import { JSON_TOKEN, walkJson } from './walk-json.js';

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
