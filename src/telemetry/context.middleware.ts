import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HttpCaller } from '../common/http/caller-presence.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { RequestContext, runInContext } from './request-context.js';
import { recordAtEnd } from './request-log.js';
import { readTraceHeaders, type TraceHeaders } from './trace-headers.js';

/** The interface's protected identity headers: only the gateway may set them, so what a client sends is taken out first. */
const PROTECTED_HEADERS = ['x-user-claims', 'x-user-jwt'] as const;

/** First step of every request: identity headers out, trace id in and answered, context opened, end recorded. */
export function contextMiddleware(logger: Logger, metrics: Metrics): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    for (const name of PROTECTED_HEADERS) delete request.headers[name];
    const { trace, broken } = traceOf(request);
    const context = new RequestContext(trace, new HttpCaller(response));
    response.setHeader('x-gateway-trace-id', trace.traceId);
    recordAtEnd(request, response, context, logger, metrics);
    runInContext(context, () => next(broken));
  };
}

/** A request with a broken tracing header is refused, but its answer and its log line still have a trace id. */
function traceOf(request: Request): { readonly trace: TraceHeaders; readonly broken?: unknown } {
  try {
    return { trace: readTraceHeaders(request.headers) };
  } catch (broken) {
    return { trace: readTraceHeaders({}), broken };
  }
}
