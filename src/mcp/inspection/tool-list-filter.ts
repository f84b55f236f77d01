import { BodyBuffer } from '../../common/http/body-buffer.js';
import { parseForeignJson } from '../../common/json/parse-foreign-json.js';
import { UpstreamFailure, type UpstreamHead } from '../../upstream/upstream.types.js';
import { EventSplitter, readEvent, withData } from '../proxy/event-splitter.js';
import type { BodyFilter } from '../../upstream/stream-exchange.js';
import { isEventStream, mediaTypeOf } from '../proxy/response-head.js';
import { firstHeader } from '../../upstream/upstream-headers.js';
import type { ToolAccess } from './tool-denial.js';
import { withoutDeniedTools } from './tool-list-text.js';

const NOTHING = Buffer.alloc(0);

/**
 * Takes the tools that the caller may not use out of the lists in an answer, whether it is JSON or an event stream.
 * For answers to `tools/list`, and for streams that are resumed and may repeat one. Undefined for an error, which holds no list.
 * An answer of another type ends as a failure: there are clients that take `application/json-rpc` for JSON.
 */
export function toolListFilter(head: UpstreamHead, mayUse: ToolAccess, maxBytes: number): BodyFilter | undefined {
  if (head.status >= 300) return undefined;
  if (isEventStream(head)) return new EventStreamFilter(mayUse, maxBytes);
  const isJson = mediaTypeOf(firstHeader(head.headers, 'content-type')) === 'application/json';
  return isJson ? new JsonFilter(mayUse, maxBytes) : new EmptyBody();
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
 * Leaves the body out. For the answer to a message of the older transport, whose own answer comes on the stream: `Accepted`, or
 * whatever the server says to that, is read by no client.
 */
export class NoBody implements BodyFilter {
  push(): Buffer {
    return NOTHING;
  }

  end(): Buffer {
    return NOTHING;
  }
}

class EmptyBody implements BodyFilter {
  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    throw new UpstreamFailure('incomplete', 'the MCP server sent a list of tools that is neither JSON nor a stream');
  }

  end(): Buffer {
    return NOTHING;
  }
}

/** @throws UpstreamFailure for what is no JSON: it cannot be told what a client would find in it */
function withoutDenied(json: Buffer, mayUse: ToolAccess): Buffer | undefined {
  const value = parseForeignJson(json);
  if (value === undefined) throw new UpstreamFailure('incomplete', 'the MCP server sent a message that is not JSON');
  return withoutDeniedTools(json, Array.isArray(value), mayUse);
}
