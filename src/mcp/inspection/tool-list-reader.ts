import { isObject, parseForeignJson } from '../../common/json/read.js';
import type { RpcId } from '../mcp-error.js';
import { EventSplitter, readEvent } from '../../upstream/streams/event-splitter.js';
import { readSeenTool, type SeenTool } from '../servers/seen-tool.js';

/** The bytes of an answer to `tools/list`, which may be incomplete. */
export interface GatheredAnswer {
  readonly isEventStream: boolean;
  readonly body: Buffer;
  /** Ids of the requests that asked for tools. Other messages may only look like a list. */
  readonly ids: ReadonlySet<RpcId>;
}

/** The tools that an answer lists. Lists of other requests, and unreadable ones, are ignored. */
export function readToolList({ isEventStream, body, ids }: GatheredAnswer): readonly SeenTool[] {
  const parts = isEventStream ? messagesOf(body) : [body];
  return parts.flatMap((json) => toolsOf(json, ids));
}

/** An incomplete event is ignored. */
function messagesOf(body: Buffer): readonly string[] {
  const events = new EventSplitter(body.length).push(body).map(readEvent);
  return events.flatMap(({ type, data = '' }) => (type === 'message' && data !== '' ? [data] : []));
}

function toolsOf(json: Buffer | string, ids: ReadonlySet<RpcId>): readonly SeenTool[] {
  const value = parseForeignJson(json);
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  return messages.flatMap((message) => listedIn(message, ids));
}

function listedIn(message: unknown, ids: ReadonlySet<unknown>): readonly SeenTool[] {
  if (!isObject(message) || !ids.has(message.id)) return [];
  const { result } = message;
  if (!isObject(result) || result.isError === true || !Array.isArray(result.tools)) return [];
  const tools: readonly unknown[] = result.tools;
  return tools.flatMap((tool) => readSeenTool(tool) ?? []);
}
