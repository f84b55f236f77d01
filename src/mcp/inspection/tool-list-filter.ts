import { ChunkList } from '../../common/http/chunk-list.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import { EventSplitter, readEvent, withData } from '../proxy/event-splitter.js';
import type { BodyFilter } from '../proxy/mcp-proxy.types.js';
import { isEventStream, mediaTypeOf } from '../proxy/response-head.js';
import { firstHeader } from '../../upstream/upstream-headers.js';
import type { ToolAccess } from './tool-denial.js';

const NOTHING = Buffer.alloc(0);

/**
 * Takes the tools that the caller may not use out of the lists in an answer, whether it is JSON or an event stream.
 * For answers to `tools/list`, and for streams that are resumed and may repeat one. Undefined for an answer of another
 * kind, which holds no list.
 */
export function toolListFilter(head: UpstreamHead, mayUse: ToolAccess, maxBytes: number): BodyFilter | undefined {
  if (isEventStream(head)) return new EventStreamFilter(mayUse, maxBytes);
  const isJson = mediaTypeOf(firstHeader(head.headers, 'content-type')) === 'application/json';
  return isJson ? new JsonFilter(mayUse, maxBytes) : undefined;
}

/** Passes every event on when it is whole, with its own bytes unless it holds a tool that has to go. */
class EventStreamFilter implements BodyFilter {
  readonly #splitter: EventSplitter;

  constructor(
    private readonly mayUse: ToolAccess,
    maxEventBytes: number,
  ) {
    this.#splitter = new EventSplitter(maxEventBytes);
  }

  push(chunk: Buffer): Buffer {
    const events = this.#splitter.push(chunk).map((event) => this.#filter(event));
    return events.length === 1 ? (events[0] ?? NOTHING) : Buffer.concat(events);
  }

  /** What is not a whole event is dropped by readers, and stays out. */
  end(): Buffer {
    return NOTHING;
  }

  #filter(event: Buffer): Buffer {
    const { type, data } = readEvent(event);
    // An event without text opens a stream that can be resumed; `endpoint` belongs to the older transport.
    if (type !== 'message' || data === undefined || data === '') return event;
    const text = withoutDenied(data, this.mayUse);
    return text === undefined ? event : withData(event, text);
  }
}

class JsonFilter implements BodyFilter {
  readonly #chunks = new ChunkList();

  constructor(
    private readonly mayUse: ToolAccess,
    private readonly maxBytes: number,
  ) {}

  push(chunk: Buffer): Buffer {
    if (this.#chunks.size + chunk.length > this.maxBytes)
      throw new UpstreamFailure('too_large', 'the list of tools is too long');
    this.#chunks.push(chunk);
    return NOTHING;
  }

  end(): Buffer {
    const body = this.#chunks.take();
    const text = body.length === 0 ? undefined : withoutDenied(body.toString('utf8'), this.mayUse);
    return text === undefined ? body : Buffer.from(text);
  }
}

/**
 * The JSON text without the denied tools, undefined when there are none in it.
 * @throws UpstreamFailure for what is no JSON: it cannot be told what a client would find in it
 */
function withoutDenied(text: string, mayUse: ToolAccess): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFailure('incomplete', 'the MCP server sent a message that is not JSON', { cause });
  }
  const isBatch = Array.isArray(value);
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  const filtered = messages.map((message) => filteredMessage(message, mayUse));
  if (filtered.every((message, index) => message === messages[index])) return undefined;
  return JSON.stringify(isBatch ? filtered : filtered[0]);
}

/** By its form rather than its id: a batch and a resumed stream hold answers to requests that were not seen here. */
function filteredMessage(message: unknown, mayUse: ToolAccess): unknown {
  if (!isObject(message) || !isObject(message.result) || !Array.isArray(message.result.tools)) return message;
  const { result } = message;
  const tools: readonly unknown[] = message.result.tools;
  const allowed = tools.filter((tool) => isAllowed(tool, mayUse));
  return allowed.length === tools.length ? message : withTools(message, result, allowed);
}

function withTools(message: JsonObject, result: JsonObject, tools: readonly unknown[]): JsonObject {
  return { ...message, result: { ...result, tools } };
}

function isAllowed(tool: unknown, mayUse: ToolAccess): boolean {
  return isObject(tool) && typeof tool.name === 'string' && mayUse(tool.name);
}
