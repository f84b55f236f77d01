import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { IDENTITY_HEADERS } from '../common/constants.js';
import { HttpClientConnection } from '../common/http/client-connection.js';
import { lineWriter, type Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { RequestContext } from './request-context.js';
import { recordAtEnd } from './request-log.js';
import { readTraceHeaders, salvageTraceHeaders, type TraceHeaders } from './trace-headers.js';
import type { Tracing } from './tracing.js';

/**
 * First middleware of every request: removes identity headers, reads and returns the trace id, opens the context, and
 * records the end.
 */
export function contextMiddleware(logger: Logger, metrics: Metrics, tracing: Tracing): RequestHandler {
  const write = lineWriter(logger);
  return (request: Request, response: Response, next: NextFunction) => {
    removeProtectedHeaders(request);
    const { trace, refusal } = traceOf(request);
    const span = tracing.startRequest(request.method, trace);
    const context = new RequestContext(trace, new HttpClientConnection(response), span, refusal);
    request.context = context;
    response.setHeader('x-gateway-trace-id', trace.traceId);
    // SDKs expose this header to their users.
    response.setHeader('x-request-id', trace.traceId);
    recordAtEnd(request, response, context, write, metrics);
    next();
  };
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

/** A request with an invalid tracing header, or without a host, is refused later, and still gets a trace id. */
function traceOf({ headers, httpVersionMinor }: Request): {
  readonly trace: TraceHeaders;
  readonly refusal?: GatewayError;
} {
  try {
    // RFC 9112, section 3.2.
    if (headers.host === undefined && httpVersionMinor > 0) throw invalidField('host', 'is required');
    return { trace: readTraceHeaders(headers) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { trace: salvageTraceHeaders(headers), refusal: error };
  }
}
