import { memberText } from '../common/json/members.js';
import { isObject, type JsonObject, parseForeignJson } from '../common/json/read.js';

const TOOLS = '"tools"';
/** The member of a nested function tool. */
const FUNCTION = '"function":';
const CUSTOM = '"custom"';
/** Types of tools whose members are one level deeper in a chat. */
const KINDS: ReadonlySet<unknown> = new Set(['function', 'custom']);

/**
 * Converts flat tools in the body of a chat to the format of chats: `{type, name}` becomes `{type, function: {name}}`.
 * Cursor sends the tools of a response with `messages` too, which OpenAI refuses: `Missing required parameter:
 * 'tools[0].function'`.
 * Source: https://forum.cursor.com/t/153019 and https://github.com/BerriAI/litellm/pull/34029, read 2026-11-28.
 */
export function withNestedTools(body: Buffer): Buffer {
  // Nearly all clients send only nested functions. Such bodies are not parsed any further.
  if (!body.includes(TOOLS) || (body.includes(FUNCTION) && !body.includes(CUSTOM))) return body;
  if (memberText(body, 'messages') === undefined) return body;
  const text = memberText(body, 'tools');
  const tools = text === undefined ? undefined : parseForeignJson(text);
  if (text === undefined || !Array.isArray(tools) || !tools.some(isFlat)) return body;
  const nested = spliced(body, text, tools.map(nestedTool));
  const choiceText = memberText(nested, 'tool_choice');
  const choice = choiceText === undefined ? undefined : parseForeignJson(choiceText);
  return choiceText === undefined || !isFlat(choice) ? nested : spliced(nested, choiceText, nestedTool(choice));
}

function isFlat(tool: unknown): tool is JsonObject {
  if (!isObject(tool)) return false;
  const { type, name } = tool;
  return KINDS.has(type) && typeof name === 'string' && tool[String(type)] === undefined;
}

function nestedTool(tool: unknown): unknown {
  if (!isFlat(tool)) return tool;
  const { type, ...members } = tool;
  return { type, [String(type)]: type === 'custom' ? withNestedGrammar(members) : members };
}

/** The grammar is one level deeper in a chat, too. */
function withNestedGrammar({ format, ...members }: JsonObject): JsonObject {
  if (!isObject(format)) return members;
  const { type, ...grammar } = format;
  return { ...members, format: type === 'grammar' ? { type, grammar } : format };
}

/** @param part a view of the body */
function spliced(body: Buffer, part: Buffer, value: unknown): Buffer {
  const start = part.byteOffset - body.byteOffset;
  return Buffer.concat([
    body.subarray(0, start),
    Buffer.from(JSON.stringify(value)),
    body.subarray(start + part.length),
  ]);
}
