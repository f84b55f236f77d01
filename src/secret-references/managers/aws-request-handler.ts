import { HttpResponse, type HttpHandler, type HttpRequest } from '@smithy/protocol-http';
import { UpstreamFailure, type UpstreamFailureKind } from '../../upstream/upstream.types.js';

/** Both calls may be repeated, whatever the other side made of the first: one reads, the other's session goes unused. */
const REPEATABLE: readonly UpstreamFailureKind[] = ['connect', 'broken', 'incomplete', 'timeout'];
/** Host and length follow from the URL and the body; said twice they could differ. */
const OWN_HEADERS = ['host', 'content-length'];
/** The SDK waits as long as these say before its second attempt, while the caller of the gateway waits for it. */
const NOT_TOLD = ['retry-after', 'x-amz-retry-after'];

/**
 * Sends what the AWS SDK has signed through a `fetch`, so that its calls obey the gateway's egress rules; the bounds on
 * time and size are the fetch's own. For protocols that put all they say into headers and body.
 */
export function awsRequestHandler(send: typeof fetch): HttpHandler {
  return {
    async handle(request) {
      const response = await send(urlOf(request), {
        method: request.method,
        headers: without(OWN_HEADERS, request.headers),
        body: bodyOf(request),
      }).catch(markRepeatable);
      return {
        response: new HttpResponse({
          statusCode: response.status,
          headers: without(NOT_TOLD, Object.fromEntries(response.headers)),
          body: new Uint8Array(await response.arrayBuffer()),
        }),
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

function urlOf({ protocol, hostname, port, path, query }: HttpRequest): URL {
  if (Object.keys(query).length > 0) throw new TypeError('calls to AWS are made without a query');
  return new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
}

function without(names: readonly string[], headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())));
}

function bodyOf(request: HttpRequest): string | Uint8Array<ArrayBuffer> | undefined {
  const body: unknown = request.body;
  if (body === undefined || typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  throw new TypeError('calls to AWS are made with a body that is in memory');
}

/** `$retryable` is how the SDK is told so. */
function markRepeatable(error: unknown): never {
  if (error instanceof UpstreamFailure && REPEATABLE.includes(error.kind)) {
    throw Object.assign(error, { $retryable: {} });
  }
  throw error;
}
