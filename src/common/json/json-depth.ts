import { JSON_TOKEN, walkJson } from './walk-json.js';

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
