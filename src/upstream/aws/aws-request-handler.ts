import { Readable } from 'node:stream';
import { HttpResponse, type HttpHandler, type HttpRequest } from '@smithy/protocol-http';
import { upstreamMethod } from '../egress/lone-sender.js';
import {
  UpstreamFailure,
  type UpstreamAnswer,
  type UpstreamFailureKind,
  type UpstreamRequest,
} from '../upstream.types.js';

/** All our calls are repeatable: they read, or open a session that may go unused. */
const REPEATABLE: readonly UpstreamFailureKind[] = ['connect', 'broken', 'incomplete', 'timeout'];
/** Host and length follow from the URL and the body. Sent twice, they could differ. */
const OWN_HEADERS = ['host', 'content-length'];
/** Headers that are hidden from the SDK. It would wait that long before its second attempt, while the caller waits. */
const NOT_TOLD = ['retry-after', 'x-amz-retry-after'];

/**
 * Sends the requests that the AWS SDK signed through `send`, so the gateway's egress rules and limits apply. Bodies are
 * in memory.
 */
export function awsRequestHandler(send: (request: UpstreamRequest) => Promise<UpstreamAnswer>): HttpHandler {
  return {
    async handle(request) {
      const answer = await send(toUpstreamRequest(request)).catch(markRepeatable);
      return { response: toHttpResponse(answer) };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

function toUpstreamRequest(request: HttpRequest): UpstreamRequest {
  const { protocol, hostname, port, path, query } = request;
  const named = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    method: upstreamMethod(request.method),
    url: new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${queryOf(query)}`),
    headers: Object.fromEntries(named.filter(([name]) => !OWN_HEADERS.includes(name))),
    body: bodyOf(request),
  };
}

function queryOf(query: HttpRequest['query']): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const text of [value ?? ''].flat()) pairs.append(name, text);
  }
  return pairs.size === 0 ? '' : `?${pairs.toString()}`;
}

function bodyOf(request: HttpRequest): Buffer | undefined {
  const body: unknown = request.body;
  if (body === undefined) return undefined;
  if (typeof body === 'string') return Buffer.from(body);
  // Copies the memory, since the SDK warns when its bytes are read as a value.
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('calls to AWS are made with a body that is in memory');
}

function toHttpResponse({ status, headers, body }: UpstreamAnswer): HttpResponse {
  const told = Object.entries(headers).filter(([name]) => !NOT_TOLD.includes(name));
  return new HttpResponse({
    statusCode: status,
    headers: Object.fromEntries(told.map(([name, value]) => [name, String(value)])),
    // The SDK's S3 client accepts only a stream.
    body: Readable.from([body]),
  });
}

/** The SDK retries a request whose error has `$retryable`. */
function markRepeatable(error: unknown): never {
  if (error instanceof UpstreamFailure && REPEATABLE.includes(error.kind)) {
    throw Object.assign(error, { $retryable: {} });
  }
  throw error;
}
