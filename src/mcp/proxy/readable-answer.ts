import { GatewayError } from '../../common/errors/gateway.error.js';
import type { BodyFilter, UpstreamHead } from '../../upstream/upstream.types.js';
import { firstHeader } from '../../upstream/upstream.types.js';
import type { McpTarget } from './mcp-proxy.types.js';
import { isEventStream, mediaTypeOf } from './response-head.js';

const NOTHING = Buffer.alloc(0);
/** `application/json`, and the types that some servers send instead, such as `application/json-rpc`. */
const JSON_TYPE = /[/+]json(?:-rpc)?$/;
const HTML_TYPE = /html/;
const PRINTABLE_TYPE = /^[a-z0-9.+-]+\/[a-z0-9.+-]{1,80}$/;
/** Accepted, without content, reset: clients do not read the body. */
const UNREAD = new Set([202, 204, 205]);

/**
 * A filter that refuses the body of an answer that no client can read, such as the page of a log-in in front of the server.
 * Undefined for JSON, for an event stream, and for an error, which clients read by its status.
 */
export function refusedBody(
  head: UpstreamHead,
  method: string | undefined,
  transport: McpTarget['transport'],
): BodyFilter | undefined {
  const { status, headers } = head;
  if (status < 200 || status >= 300 || isEventStream(head)) return undefined;
  const type = mediaTypeOf(firstHeader(headers, 'content-type'));
  const isLegacy = transport === 'sse';
  // The older transport answers on its stream, and clients read only the status of this answer.
  if (isLegacy && method === 'POST') return HTML_TYPE.test(type) ? new EmptyBody(() => unreadable(type)) : undefined;
  if (UNREAD.has(status) || (!isLegacy && isJsonType(type))) return undefined;
  return new EmptyBody(() => unreadable(type));
}

export function isJsonType(mediaType: string): boolean {
  return JSON_TYPE.test(mediaType);
}

/** Accepts an empty body only. */
export class EmptyBody implements BodyFilter {
  constructor(private readonly failure: () => Error) {}

  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    throw this.failure();
  }

  end(): Buffer {
    return NOTHING;
  }
}

function unreadable(type: string): GatewayError {
  const what = PRINTABLE_TYPE.test(type) ? type : 'a body without a known type';
  return new GatewayError('provider_invalid_response', {
    message: `The MCP server answered with ${what} instead of JSON or an event stream. Something in front of it may want a log-in.`,
    reason: 'neither JSON nor an event stream',
  });
}
