import { GatewayError } from '../../common/errors/gateway.error.js';
import type { BodyFilter, UpstreamHead } from '../../upstream/upstream.types.js';
import { firstHeader } from '../../upstream/upstream.types.js';
import type { McpTarget } from './mcp-proxy.types.js';
import { isEventStream, isPlain, mediaTypeOf } from './response-head.js';

const NOTHING = Buffer.alloc(0);
/** `application/json`, and the types that some servers send instead, such as `application/json-rpc`. */
const JSON_TYPE = /[/+]json(?:-rpc)?$/;
const HTML_TYPE = /html/;
const PRINTABLE_TYPE = /^[a-z0-9.+-]+\/[a-z0-9.+-]{1,80}$/;
/** Accepted, without content, reset: clients do not read the body. */
const UNREAD = new Set([202, 204, 205]);
/** Space, tab, line ends, and the bytes of a byte order mark. */
const BLANK: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n\u{feff}'));
const BEGINS_JSON = new Set(Buffer.from('{['));
const BEGINS_PAGE = 0x3c;
const BEGINS_PAGE_OR_JSON = new Set(Buffer.from('<{['));

/** What the answer is for. */
export interface AnsweredRequest {
  readonly method: string | undefined;
  readonly transport: McpTarget['transport'];
  /** Whether the body has a JSON-RPC request. Notifications get a status only. */
  readonly expectsAnswer: boolean;
}

/**
 * A filter that refuses the body of an answer that no client can read, such as the page of a log-in in front of the server, or
 * text in a coding that was not asked for and is unknown here. Undefined for JSON, for an event stream, and for an error, which clients read by its status.
 */
export function refusedBody(head: UpstreamHead, request: AnsweredRequest): BodyFilter | undefined {
  const { status, headers } = head;
  if (!isSuccess(status)) return undefined;
  if (!isPlain(head) && !UNREAD.has(status) && !isLegacyMessage(request)) return new EmptyBody(undecodable);
  if (isEventStream(head)) return undefined;
  const type = mediaTypeOf(firstHeader(headers, 'content-type'));
  // The older transport answers on its stream, and clients read only the status of this answer.
  if (isLegacyMessage(request)) return HTML_TYPE.test(type) ? new EmptyBody(() => unreadable(type)) : undefined;
  if (UNREAD.has(status) || (request.transport !== 'sse' && isJsonType(type))) return undefined;
  return new EmptyBody(() => unreadable(type), !request.expectsAnswer);
}

/**
 * A filter that refuses a body that is not what its type says, by its first byte: a log-in may answer with its page under the
 * type that was asked for. It changes and holds nothing.
 */
export function checkedStart(head: UpstreamHead, request: AnsweredRequest): BodyFilter | undefined {
  if (!isSuccess(head.status) || UNREAD.has(head.status) || !isPlain(head)) return undefined;
  const type = mediaTypeOf(firstHeader(head.headers, 'content-type'));
  const expectsAnswer = request.expectsAnswer && !isLegacyMessage(request);
  return new BodyStart(startOf(head, expectsAnswer), type, !expectsAnswer);
}

function startOf(head: UpstreamHead, expectsAnswer: boolean): (byte: number) => boolean {
  if (isEventStream(head)) return (byte) => !BEGINS_PAGE_OR_JSON.has(byte);
  // Clients read only the status of an answer to a notification, or to the end of a session: some servers add a text.
  return expectsAnswer ? (byte) => BEGINS_JSON.has(byte) : (byte) => byte !== BEGINS_PAGE;
}

export function isJsonType(mediaType: string): boolean {
  return JSON_TYPE.test(mediaType);
}

/** Accepts an empty body only, or none at all. */
export class EmptyBody implements BodyFilter {
  constructor(
    private readonly failure: () => Error,
    private readonly mayBeEmpty = true,
  ) {}

  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    throw this.failure();
  }

  end(): Buffer {
    if (!this.mayBeEmpty) throw empty();
    return NOTHING;
  }
}

class BodyStart implements BodyFilter {
  #hasBegun = false;

  constructor(
    private readonly isStart: (byte: number) => boolean,
    private readonly type: string,
    private readonly mayBeEmpty: boolean,
  ) {}

  push(chunk: Buffer): Buffer {
    const first = this.#hasBegun ? undefined : chunk.find((byte) => !BLANK.has(byte));
    if (first === undefined) return chunk;
    if (!this.isStart(first)) throw otherThan(this.type);
    this.#hasBegun = true;
    return chunk;
  }

  end(): Buffer {
    if (!this.#hasBegun && !this.mayBeEmpty) throw empty();
    return NOTHING;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function isLegacyMessage({ method, transport }: AnsweredRequest): boolean {
  return transport === 'sse' && method === 'POST';
}

function unreadable(type: string): GatewayError {
  const what = PRINTABLE_TYPE.test(type) ? type : 'a body without a known type';
  return new GatewayError('provider_invalid_response', {
    message: `The MCP server answered with ${what} instead of JSON or an event stream. Something in front of it may want a log-in.`,
    reason: 'neither JSON nor an event stream',
  });
}

/** Its coding is one that the gateway could not undo, although it asked for none. */
function undecodable(): GatewayError {
  return new GatewayError('provider_invalid_response', {
    message: 'The MCP server encoded its answer in a way that was not asked for and cannot be decoded.',
    reason: 'an unknown content-encoding',
  });
}

function otherThan(type: string): GatewayError {
  const expected = PRINTABLE_TYPE.test(type) ? type : 'what its type says';
  return new GatewayError('provider_invalid_response', {
    message: `The body of the MCP server's answer is not ${expected}. Something in front of it may want a log-in.`,
    reason: 'the body is not what its type says',
  });
}

function empty(): GatewayError {
  return new GatewayError('provider_invalid_response', {
    message: 'The MCP server answered the request with an empty body.',
    reason: 'an empty body',
  });
}
