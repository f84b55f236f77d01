import { isObject } from '../../common/json/read.js';
import { JSON_TOKEN, stringAt, walkJson } from '../../common/json/scan.js';
import type { ToolAccess } from './tool-denial.js';

/** Path of the list of tools in a message. */
const PATH = ['result', 'tools'] as const;

/** A list of tools in a text: start and end inside the brackets, and the text of each tool with the whitespace around it. */
interface ToolList {
  readonly start: number;
  end: number;
  readonly tools: Buffer[];
}

/**
 * The JSON text without the denied tools; undefined when it has none. No other byte changes, since a number may have more digits
 * than JavaScript can hold. The text must be valid JSON; `isBatch` when its root is an array of messages.
 */
export function withoutDeniedTools(json: Buffer, isBatch: boolean, mayUse: ToolAccess): Buffer | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, tools } of findToolLists(json, isBatch ? 2 : 1)) {
    const allowed = tools.filter((tool) => isAllowed(tool, mayUse));
    if (allowed.length === tools.length) continue;
    parts.push(json.subarray(at, start));
    allowed.forEach((tool, index) => parts.push(...(index === 0 ? [] : [Buffer.from(',')]), tool));
    at = end;
  }
  return at === 0 ? undefined : Buffer.concat([...parts, json.subarray(at)]);
}

/**
 * By path, not by the message's id: a batch and a resumed stream hold answers to requests that the gateway has not seen. A list
 * that occurs twice is found twice, so it does not matter which one a client reads.
 */
function findToolLists(json: Buffer, messageDepth: number): readonly ToolList[] {
  const listDepth = messageDepth + PATH.length;
  const lists: ToolList[] = [];
  /** The current key at each depth. */
  const keys: string[] = [];
  const isAtPath = (): boolean => PATH.every((key, each) => keys[messageDepth + each] === key);
  let list: ToolList | undefined;
  let toolStart = 0;
  walkJson(json, (token, at, depth, last) => {
    if (depth < listDepth) {
      if (token === JSON_TOKEN.colon) keys[depth] = stringAt(json, last);
      else if (token === JSON_TOKEN.openBrace || token === JSON_TOKEN.openBracket) keys[depth] = '';
    } else if (depth === listDepth) {
      if (token === JSON_TOKEN.openBracket && isAtPath()) {
        list = { start: at + 1, end: at + 1, tools: [] };
        lists.push(list);
        toolStart = at + 1;
      } else if (token === JSON_TOKEN.comma && list) {
        list.tools.push(json.subarray(toolStart, at));
        toolStart = at + 1;
      } else if (token === JSON_TOKEN.closeBracket && list) {
        const tool = json.subarray(toolStart, at);
        if (list.tools.length > 0 || tool.toString().trim() !== '') list.tools.push(tool);
        list.end = at;
        list = undefined;
      }
    }
    return true;
  });
  return lists;
}

function isAllowed(text: Buffer, mayUse: ToolAccess): boolean {
  const tool: unknown = JSON.parse(text.toString());
  return isObject(tool) && typeof tool.name === 'string' && mayUse(tool.name, tool);
}
