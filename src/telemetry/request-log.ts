import type { Request, Response } from 'express';
import { CLIENT_CLOSED_REQUEST } from '../common/http/client-connection.js';
import type { LineWriter } from './logger.js';
import type { Metrics } from './metrics.js';
import type { RequestSink } from './request-sink.js';
import type { RequestContext } from './request-context.js';
import type { LogFields } from './tracing.js';

export const UNMATCHED = 'unmatched';

/**
 * Writes the log line, the metrics and the span of a request when it ends, in any way. When the client disconnects,
 * recording waits for one turn of the event loop, in which the provider call is cancelled; after a stream of events also, in
 * which its usage is settled.
 */
export function recordAtEnd(
  request: Request,
  response: Response,
  context: RequestContext,
  write: LineWriter,
  metrics: Metrics,
  sink?: RequestSink,
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
  sink?.({ traceId: trace.traceId, method: request.method, route, status, durationMs, facts, metadata });
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
