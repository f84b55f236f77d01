import { BodyBuffer } from '../../common/http/body-buffer.js';
import { parseForeignJson } from '../../common/json/read.js';
import { UpstreamFailure, type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import { EventSplitter, readEvent, withData } from '../../upstream/streams/event-splitter.js';
import type { BodyFilter } from '../../upstream/upstream.types.js';
import { EmptyBody } from '../proxy/readable-answer.js';
import { isEventStream, mediaTypeOf } from '../proxy/response-head.js';
import type { ToolAccess } from './tool-denial.js';
import { withoutDeniedTools } from './tool-list-text.js';

const NOTHING = Buffer.alloc(0);
const NO_LIST = 'the MCP server sent a list of tools that is neither JSON nor a stream';

/**
 * Removes the tools that the caller may not use from the lists in an answer, JSON or event stream. For answers to `tools/list`,
 * and for resumed streams, which may repeat one. Undefined for an error, which has no list. An answer of another type fails,
 * because some clients parse `application/json-rpc` as JSON.
 */
export function toolListFilter(head: UpstreamHead, mayUse: ToolAccess, maxBytes: number): BodyFilter | undefined {
  if (head.status >= 300) return undefined;
  if (isEventStream(head)) return new EventStreamFilter(mayUse, maxBytes);
  const isJson = mediaTypeOf(firstHeader(head.headers, 'content-type')) === 'application/json';
  return isJson ? new JsonFilter(mayUse, maxBytes) : new EmptyBody(() => new UpstreamFailure('incomplete', NO_LIST));
}

/** Forwards each event when it is complete, with its own bytes unless a tool is removed. */
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

  /** Readers drop an incomplete event anyway. */
  end(): Buffer {
    return NOTHING;
  }

  #filter(event: Buffer): Buffer {
    const { type, data } = readEvent(event);
    // An event without data opens a stream that can be resumed; `endpoint` belongs to the older transport.
    if (type !== 'message' || data === undefined || data === '') return event;
    const filtered = withoutDenied(Buffer.from(data), this.mayUse);
    return filtered === undefined ? event : withData(event, filtered.toString());
  }
}

class JsonFilter implements BodyFilter {
  readonly #chunks = new BodyBuffer();

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
    return body.length === 0 ? body : (withoutDenied(body, this.mayUse) ?? body);
  }
}

/**
 * Drops the body. For the answer to a message of the older transport: the real answer comes on the stream, and clients do not read
 * this one.
 */
export class NoBody implements BodyFilter {
  push(): Buffer {
    return NOTHING;
  }

  end(): Buffer {
    return NOTHING;
  }
}

/** @throws UpstreamFailure for invalid JSON: a client might still find tools in it */
function withoutDenied(json: Buffer, mayUse: ToolAccess): Buffer | undefined {
  const value = parseForeignJson(json);
  if (value === undefined) throw new UpstreamFailure('incomplete', 'the MCP server sent a message that is not JSON');
  return withoutDeniedTools(json, Array.isArray(value), mayUse);
}
