import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { IDENTITY_HEADERS } from '../common/constants.js';
import { HttpClientConnection, CLIENT_CLOSED_REQUEST } from '../common/http/client-connection.js';
import type { CapturedBodies } from './body-capture.js';
import { lineWriter, type Logger, type LineWriter } from './logger.js';
import type { Metrics } from './metrics.js';
import { RequestContext } from './request-context.js';
import { readTraceHeaders, salvageTraceHeaders, type TraceHeaders, type Metadata } from './trace-headers.js';
import type { Tracing, LogFields } from './tracing.js';

/** A request that is over. */
export interface EndedRequest {
  readonly traceId: string;
  readonly method: string;
  /** Pattern of the matched route. */
  readonly route: string;
  /** As in the log: 499 when the client disconnected first. */
  readonly status: number;
  readonly durationMs: number;
  readonly facts: Readonly<LogFields>;
  readonly metadata: Metadata;
}

/** Called once for each request, when it is over. Must not throw. @param bodies where the workspace keeps them */
export type RequestSink = (request: EndedRequest, bodies: CapturedBodies | undefined) => void;

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
    const context = new RequestContext(trace, new HttpClientConnection(response), span, refusal, response);
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

export const UNMATCHED = 'unmatched';

/**
 * Writes the log line, the metrics and the span of a request when it ends, in any way. When the client disconnects,
 * recording waits for one turn of the event loop, in which the provider call is cancelled; after a stream of events also, in
 * which its usage is settled.
 */
function recordAtEnd(
  request: Request,
  response: Response,
  context: RequestContext,
  write: LineWriter,
  metrics: Metrics,
  sink: RequestSink | undefined,
): void {
  const { arrivedAt: startedAt = performance.now() } = request;
  metrics.inFlight.inc();
  response.on('close', () => {
    const durationMs = performance.now() - startedAt;
    if (response.writableFinished && request.errorEvent === undefined)
      record(request, response, context, write, metrics, sink, durationMs);
    else setImmediate(record, request, response, context, write, metrics, sink, durationMs);
  });
}

function record(
  request: Request,
  response: Response,
  context: RequestContext,
  write: LineWriter,
  metrics: Metrics,
  sink: RequestSink | undefined,
  durationMs: number,
): void {
  // The pattern of the matched route, never the path as sent: ids and junk would create unlimited labels.
  const path: unknown = request.route?.path;
  const route = typeof path === 'string' ? path : UNMATCHED;
  // An incomplete response has an error code when the gateway aborted it, and none when the client disconnected.
  const isBrokenOff = response.headersSent && !response.writableFinished && context.facts.error_code !== undefined;
  const status = response.writableFinished || isBrokenOff ? response.statusCode : CLIENT_CLOSED_REQUEST;
  metrics.inFlight.dec();
  metrics.requests.inc({ route, code: status });
  if (isBrokenOff) metrics.brokenOff.inc({ route });
  metrics.requestSeconds.observe({ route }, durationMs / 1000);
  write(levelOf(status, route, context.facts), membersOf(request, context, route, status, durationMs));
  const { facts, metadata, trace } = context;
  const ended = { traceId: trace.traceId, method: request.method, route, status, durationMs, facts, metadata };
  const bodies = context.takeBodies(request);
  if (sink !== undefined) context.whenOutcomeIsKnown(() => sink(ended, bodies));
  context.span?.end({
    method: request.method,
    scheme: request.protocol,
    route: route === UNMATCHED ? undefined : route,
    status,
    isBrokenOff,
    facts: context.facts,
    metadata: context.metadata,
  });
}

/** The members of the log line, in order. JSON leaves undefined ones out. */
function membersOf(
  { method }: Request,
  { trace, facts, metadata }: RequestContext,
  route: string,
  status: number,
  durationMs: number,
): object {
  return {
    event: 'request',
    trace_id: trace.traceId,
    span_id: trace.spanId,
    parent_span_id: trace.parentSpanId,
    span_name: trace.spanName,
    w3c_trace_id: trace.w3cTraceId,
    w3c_span_id: trace.w3cSpanId,
    method,
    route,
    status,
    duration_ms: Math.round(durationMs * 100) / 100,
    organisation_id: facts.organisation_id,
    workspace_id: facts.workspace_id,
    actor_type: facts.actor_type,
    actor_id: facts.actor_id,
    virtual_key: facts.virtual_key,
    provider: facts.provider,
    model: facts.model,
    failed_targets: facts.failed_targets,
    documents: facts.documents,
    search_units: facts.search_units,
    total_tokens: facts.total_tokens,
    quantities: facts.quantities,
    cost_nano: facts.cost_nano,
    first_token_ms: facts.first_token_ms,
    tokens_per_second: facts.tokens_per_second,
    finish_reason: facts.finish_reason,
    usage_above_bound: facts.usage_above_bound,
    limit_decision: facts.limit_decision,
    limit_monitored: facts.limit_monitored,
    limit_monitored_policy: facts.limit_monitored_policy,
    mcp_server: facts.mcp_server,
    mcp_method: facts.mcp_method,
    upstream_status: facts.upstream_status,
    upstream_attempts: facts.upstream_attempts,
    upstream_ms: facts.upstream_ms,
    upstream_queue_ms: facts.upstream_queue_ms,
    upstream_request_id: facts.upstream_request_id,
    error_code: facts.error_code,
    error_reason: facts.error_reason,
    metadata,
  };
}

/**
 * A forwarded 500 of an upstream is not an error of the gateway. Successful probes are frequent, so they are logged at
 * debug level.
 */
function levelOf(status: number, route: string, facts: LogFields): 'debug' | 'info' | 'error' {
  const isPassedOn = facts.upstream_status === status && facts.error_code === undefined;
  if (status === 500 && !isPassedOn) return 'error';
  const isProbe = route.startsWith('/health') || route.startsWith('/metrics');
  return isProbe && status < 500 ? 'debug' : 'info';
}
