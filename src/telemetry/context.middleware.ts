import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { IDENTITY_HEADERS } from '../common/constants.js';
import { HttpClientConnection } from '../common/http/client-connection.js';
import { lineWriter, type Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { RequestContext } from './request-context.js';
import type { RequestSink } from './request-sink.js';
import { recordAtEnd } from './request-log.js';
import { readTraceHeaders, salvageTraceHeaders, type TraceHeaders } from './trace-headers.js';
import type { Tracing } from './tracing.js';

/**
 * First middleware of every request: removes identity headers, reads and returns the trace id, opens the context, and
 * records the end.
 */
export function contextMiddleware(
  logger: Logger,
  metrics: Metrics,
  tracing: Tracing,
  sink?: RequestSink,
): RequestHandler {
  const write = lineWriter(logger);
  return (request: Request, response: Response, next: NextFunction) => {
    removeProtectedHeaders(request);
    const { trace, refusal } = traceOf(request);
    const span = tracing.startRequest(request.method, trace);
    const context = new RequestContext(trace, new HttpClientConnection(response), span, refusal);
    request.context = context;
    writeTraceId(response, trace.traceId);
    recordAtEnd(request, response, context, write, metrics, sink);
    next(hostRefusal(request));
  };
}

export function writeTraceId(response: Response, traceId: string): void {
  response.setHeader('x-gateway-trace-id', traceId);
  // SDKs expose this header to their users.
  response.setHeader('x-request-id', traceId);
}

/** Removes them from all three views of the headers. The first two have lower-case names and join repeated headers. */
function removeProtectedHeaders(request: Request): void {
  const { headers, rawHeaders } = request;
  for (const name of IDENTITY_HEADERS) {
    if (headers[name] === undefined) continue;
    delete headers[name];
    // Must come before the raw list changes: Node builds this view from it on first access.
    delete request.headersDistinct[name];
    for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
      if (rawHeaders[index]?.toLowerCase() === name) rawHeaders.splice(index, 2);
    }
  }
}

const HOST = 'host';
/** RFC 3986, sections 3.2.2 and 3.2.3, but with any character in a name that cannot end it. */
const HOST_VALUE = /^(?:\[[0-9a-f:.]+\]|[^\s,/?#@[\]:\\]*)(?::\d*)?$/i;

/** RFC 9112, section 3.2: with two hosts, the next server could read another one than the gateway. */
function hostRefusal({ headers: { host }, rawHeaders, httpVersionMinor }: Request): GatewayError | undefined {
  if (host === undefined) return httpVersionMinor > 0 ? invalidField(HOST, 'is required') : undefined;
  if (!HOST_VALUE.test(host)) return invalidField(HOST, 'must be a host, or a host and a port');
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) count += 1;
  }
  return count > 1 ? invalidField(HOST, 'must come once') : undefined;
}

/** A request with an invalid tracing header is refused later, and still gets a trace id. */
function traceOf({ headers }: Request): {
  readonly trace: TraceHeaders;
  readonly refusal?: GatewayError;
} {
  try {
    return { trace: readTraceHeaders(headers) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { trace: salvageTraceHeaders(headers), refusal: error };
  }
}
