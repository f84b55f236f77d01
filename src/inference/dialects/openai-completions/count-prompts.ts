import { JSON_TOKEN, QUOTE, stringAt, walkJson } from '../../../common/json/scan.js';
import { foldField } from '../../../common/json/field-names.js';

const SPACE = 0x20;

/**
 * Counts the prompts of a request. In a list of texts or of token lists, each item is a prompt. A list of tokens is one
 * prompt.
 */
export function countPrompts(json: Buffer): number {
  let isPrompt = false;
  let isList = false;
  let items = 0;
  let most = 1;
  walkJson(json, (token, at, depth, last) => {
    if (token === JSON_TOKEN.colon && depth === 1) {
      isPrompt = foldField(stringAt(json, last)) === 'prompt';
      isList = false;
    } else if (isPrompt && depth === 2 && token === JSON_TOKEN.openBracket) {
      isList = holdsPrompts(json, at + 1);
      items = 1;
    } else if (isPrompt && isList && depth === 2 && token === JSON_TOKEN.comma) {
      items += 1;
      most = Math.max(most, items);
    }
    return true;
  });
  return most;
}

/** Whether the first item of a list is a text or a list. */
function holdsPrompts(json: Buffer, start: number): boolean {
  let at = start;
  while (at < json.length && (json[at] ?? 0) <= SPACE) at += 1;
  return json[at] === QUOTE || json[at] === JSON_TOKEN.openBracket;
}
