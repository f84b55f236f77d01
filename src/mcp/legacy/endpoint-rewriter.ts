import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { EventSplitter, readEvent, withData } from '../../upstream/streams/event-splitter.js';
import type { BodyFilter } from '../../upstream/upstream.types.js';

const NOTHING = Buffer.alloc(0);
/** The endpoint is the first event; before it there can only be comments. */
const MAX_PREFACE_BYTES = 16 * 1024;

/**
 * Rewrites the `endpoint` event of an HTTP+SSE stream. Everything after it is forwarded unchanged.
 * @param rewrite from the server's address to ours; the stream breaks off when it throws
 */
export class EndpointRewriter implements BodyFilter {
  #splitter: EventSplitter | undefined = new EventSplitter(Infinity);
  /** Limits the bytes before the endpoint. Other events may come in one chunk with it. */
  #prefaceBytes = 0;

  constructor(private readonly rewrite: (endpoint: string) => string) {}

  push(chunk: Buffer): Buffer {
    const splitter = this.#splitter;
    if (!splitter) return chunk;
    this.#prefaceBytes += chunk.length;
    const out: Buffer[] = [];
    for (const event of splitter.push(chunk)) out.push(this.#splitter ? this.#take(event) : event);
    if (!this.#splitter) out.push(splitter.rest());
    else if (this.#prefaceBytes > MAX_PREFACE_BYTES) throw noEndpoint();
    return out.length === 1 ? (out[0] ?? NOTHING) : Buffer.concat(out);
  }

  end(): Buffer {
    if (this.#splitter) throw noEndpoint();
    return NOTHING;
  }

  #take(event: Buffer): Buffer {
    const { type, data } = readEvent(event);
    if (data === undefined) return event;
    // A message before the endpoint would reach a client that cannot answer it.
    if (type !== 'endpoint') throw noEndpoint();
    this.#splitter = undefined;
    return withData(event, this.rewrite(data.trim()));
  }
}

function noEndpoint(): UpstreamFailure {
  return new UpstreamFailure('incomplete', 'the MCP server opened an SSE stream without an endpoint event');
}
