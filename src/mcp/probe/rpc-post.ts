import { GatewayError } from '../../common/errors/gateway.error.js';
import { BodyBuffer } from '../../common/http/body-buffer.js';
import { isObject, type JsonObject, parseForeignJson } from '../../common/json/read.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { EventSplitter, readEvent } from '../../upstream/streams/event-splitter.js';
import { mediaTypeOf } from '../proxy/response-head.js';
import { type ProbeTransport, MAX_ANSWER_BYTES } from './probe.types.js';

/** One id is enough, since each message is an HTTP request of its own. */
const RPC_ID = 1;

export interface RpcRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Headers of the protocol. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the server starts a session, before its answer is read. */
  readonly onSession?: (sessionId: string) => void;
}

export interface RpcAnswer {
  readonly status: number;
  /** In lower case and without parameters. */
  readonly mediaType: string;
  /** The JSON-RPC response, if there is one. */
  readonly message: JsonObject | undefined;
}

/**
 * Sends one JSON-RPC request and reads its response, from JSON or from an event stream.
 * @throws GatewayError `provider_timeout`, `provider_failed`, and `provider_invalid_response` for an answer that is too long
 */
export async function postRpc(url: URL, probe: ProbeTransport, request: RpcRequest): Promise<RpcAnswer> {
  const { method, params, headers = {} } = request;
  const { network, deadline: signal } = probe;
  try {
    const answer = await network.fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...probe.headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: RPC_ID, method, params }),
      signal,
    });
    const sessionId = answer.headers.get('mcp-session-id');
    if (sessionId !== null && sessionId !== '') request.onSession?.(sessionId);
    const mediaType = mediaTypeOf(answer.headers.get('content-type') ?? undefined);
    const message = mediaType === 'text/event-stream' ? await fromEvents(answer) : await fromText(answer);
    return { status: answer.status, mediaType, message };
  } catch (cause) {
    if (cause instanceof UpstreamFailure && cause.kind === 'too_large')
      throw new GatewayError('provider_invalid_response', { cause });
    throw new GatewayError(signal.aborted ? 'provider_timeout' : 'provider_failed', { cause });
  }
}

/** Reads until the response. Messages before it are ignored. */
async function fromEvents({ body }: Response): Promise<JsonObject | undefined> {
  const splitter = new EventSplitter(MAX_ANSWER_BYTES);
  let size = 0;
  for await (const chunk of body ?? []) {
    size = grown(size, chunk);
    for (const event of splitter.push(Buffer.from(chunk))) {
      const message = responseIn(readEvent(event).data ?? '');
      if (message !== undefined) return message;
    }
  }
  return undefined;
}

async function fromText({ body }: Response): Promise<JsonObject | undefined> {
  const chunks = new BodyBuffer();
  for await (const chunk of body ?? []) {
    grown(chunks.size, chunk);
    chunks.push(Buffer.from(chunk));
  }
  return responseIn(chunks.take());
}

function grown(size: number, { length }: Uint8Array): number {
  if (size + length > MAX_ANSWER_BYTES) throw new UpstreamFailure('too_large', 'the answer is too long');
  return size + length;
}

function responseIn(json: Buffer | string): JsonObject | undefined {
  const value = parseForeignJson(json);
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, result, error } = value;
  // A server that could not read the request does not know its id.
  const isOurs = id === RPC_ID || (error !== undefined && (id === null || id === undefined));
  return isOurs && (result !== undefined || error !== undefined) ? value : undefined;
}
