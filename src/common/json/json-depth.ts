import { endOfString, QUOTE } from './json-strings.js';

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether JSON text nests arrays and objects more than `limit` deep. Text that is no JSON may get either answer. */
export function isDeeperThan(json: Buffer, limit: number): boolean {
  return opensMoreThan(json, limit) && nestsMoreThan(json, limit);
}

/** A cheap first look, since most bodies have few brackets: native searches that end after `limit` hits. */
function opensMoreThan(json: Buffer, limit: number): boolean {
  let count = 0;
  for (const bracket of [OPEN_BRACE, OPEN_BRACKET]) {
    let at = json.indexOf(bracket);
    while (at !== -1 && count <= limit) {
      count += 1;
      at = json.indexOf(bracket, at + 1);
    }
  }
  return count > limit;
}

function nestsMoreThan(json: Buffer, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
