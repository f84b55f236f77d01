import { endOfString, QUOTE } from '../../common/json/json-strings.js';
import { isObject } from '../../common/json/read.js';
import type { ToolAccess } from './tool-denial.js';

const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Where a list of tools is in a message. */
const PATH = ['result', 'tools'] as const;

/** A list of tools in a text: where it begins and ends, behind and before its brackets, and its tools with what is around them. */
interface ToolList {
  readonly start: number;
  end: number;
  readonly tools: Buffer[];
}

/**
 * The JSON text without the denied tools, undefined when there are none in it. Nothing else in it changes, since a number may
 * have more digits than JavaScript can hold. The text must be valid JSON; `isBatch` when its root is an array of messages.
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
 * By their place rather than the message's id: a batch and a resumed stream hold answers to requests that were not seen here.
 * A list that comes twice is found twice, whichever of them a reader takes.
 */
function findToolLists(json: Buffer, messageDepth: number): readonly ToolList[] {
  const listDepth = messageDepth + PATH.length;
  const lists: ToolList[] = [];
  /** The key at hand of the object at each depth. */
  const keys: string[] = [];
  let list: ToolList | undefined;
  let depth = 0;
  let toolStart = 0;
  let stringStart = 0;
  let stringEnd = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      stringStart = at;
      at = endOfString(json, at);
      stringEnd = at;
    } else if (byte === COLON && depth < listDepth) {
      // Outside of strings a colon stands behind a key only, and that is the last string.
      keys[depth] = keyOf(json, stringStart, stringEnd);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth < listDepth) keys[depth] = '';
      if (
        byte === OPEN_BRACKET &&
        depth === listDepth &&
        PATH.every((key, each) => keys[messageDepth + each] === key)
      ) {
        list = { start: at + 1, end: at + 1, tools: [] };
        lists.push(list);
        toolStart = at + 1;
      }
    } else if (byte === COMMA && list && depth === listDepth) {
      list.tools.push(json.subarray(toolStart, at));
      toolStart = at + 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (list && depth === listDepth) {
        const last = json.subarray(toolStart, at);
        if (list.tools.length > 0 || last.toString().trim() !== '') list.tools.push(last);
        list.end = at;
        list = undefined;
      }
      depth -= 1;
    }
  }
  return lists;
}

function isAllowed(text: Buffer, mayUse: ToolAccess): boolean {
  const tool: unknown = JSON.parse(text.toString());
  return isObject(tool) && typeof tool.name === 'string' && mayUse(tool.name);
}

function keyOf(json: Buffer, start: number, end: number): string {
  const key: unknown = JSON.parse(json.toString('utf8', start, end + 1));
  return String(key);
}
