import type { Request, Response } from 'express';
import { CLIENT_CLOSED_REQUEST } from '../common/http/client-closed-request.js';
import { jsonMember } from '../common/json/write-json.js';
import type { LineWriter } from './logger.js';
import type { Metrics } from './metrics.js';
import type { RequestContext } from './request-context.js';
import type { RequestFacts } from './request-facts.js';

export const UNMATCHED = 'unmatched';

/**
 * Writes the one log line, the metrics and the span of a request when it ends, however it ends. When its client leaves, what
 * that comes to is only known once the call of the provider has been given up, which happens right away.
 */
export function recordAtEnd(
  request: Request,
  response: Response,
  context: RequestContext,
  write: LineWriter,
  metrics: Metrics,
): void {
  const { arrivedAt: startedAt = performance.now() } = request;
  metrics.inFlight.inc();
  response.on('close', () => {
    const durationMs = performance.now() - startedAt;
    if (response.writableFinished) record(request, response, context, write, metrics, durationMs);
    else setImmediate(record, request, response, context, write, metrics, durationMs);
  });
}

function record(
  request: Request,
  response: Response,
  context: RequestContext,
  write: LineWriter,
  metrics: Metrics,
  durationMs: number,
): void {
  const route = routeOf(request);
  const isBrokenOff = wasBrokenOff(response, context);
  const status = response.writableFinished || isBrokenOff ? response.statusCode : CLIENT_CLOSED_REQUEST;
  metrics.inFlight.dec();
  metrics.requests.inc({ route, code: status });
  if (isBrokenOff) metrics.brokenOff.inc({ route });
  metrics.requestSeconds.observe({ route }, durationMs / 1000);
  write(levelOf(status, route, context.facts), lineOf(request, context, route, status, durationMs));
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

/** The members of the one line of a request. */
function lineOf(
  { method }: Request,
  { trace, facts, metadata }: RequestContext,
  route: string,
  status: number,
  durationMs: number,
): string {
  return (
    ',"event":"request"' +
    jsonMember('trace_id', trace.traceId) +
    jsonMember('span_id', trace.spanId) +
    jsonMember('parent_span_id', trace.parentSpanId) +
    jsonMember('span_name', trace.spanName) +
    jsonMember('w3c_trace_id', trace.w3cTraceId) +
    jsonMember('w3c_span_id', trace.w3cSpanId) +
    jsonMember('method', method) +
    jsonMember('route', route) +
    jsonMember('status', status) +
    jsonMember('duration_ms', Math.round(durationMs * 100) / 100) +
    jsonMember('organisation_id', facts.organisation_id) +
    jsonMember('workspace_id', facts.workspace_id) +
    jsonMember('actor_type', facts.actor_type) +
    jsonMember('actor_id', facts.actor_id) +
    jsonMember('virtual_key', facts.virtual_key) +
    jsonMember('provider', facts.provider) +
    jsonMember('model', facts.model) +
    jsonMember('documents', facts.documents) +
    jsonMember('search_units', facts.search_units) +
    jsonMember('total_tokens', facts.total_tokens) +
    jsonMember('cost_nano', facts.cost_nano) +
    jsonMember('limit_decision', facts.limit_decision) +
    jsonMember('limit_monitored', facts.limit_monitored) +
    jsonMember('limit_monitored_policy', facts.limit_monitored_policy) +
    jsonMember('mcp_server', facts.mcp_server) +
    jsonMember('mcp_method', facts.mcp_method) +
    jsonMember('upstream_status', facts.upstream_status) +
    jsonMember('upstream_attempts', facts.upstream_attempts) +
    jsonMember('upstream_ms', facts.upstream_ms) +
    jsonMember('upstream_request_id', facts.upstream_request_id) +
    jsonMember('error_code', facts.error_code) +
    jsonMember('error_reason', facts.error_reason) +
    `,"metadata":${JSON.stringify(metadata)}`
  );
}

/** An answer that stopped half-way has an error when the gateway broke it off, and none when the client left. */
function wasBrokenOff(response: Response, { facts }: RequestContext): boolean {
  return response.headersSent && !response.writableFinished && facts.error_code !== undefined;
}

/** The pattern of the matched route, never the path as sent: ids and junk would make endless labels. */
function routeOf(request: Request): string {
  const route: unknown = request.route;
  if (typeof route === 'object' && route !== null && 'path' in route && typeof route.path === 'string')
    return route.path;
  return UNMATCHED;
}

/**
 * A 500 that an upstream answered, and that was passed on, is no error of the gateway. Probes come all the time; only what
 * keeps the gateway from being ready is worth a line.
 */
function levelOf(status: number, route: string, facts: RequestFacts): 'debug' | 'info' | 'error' {
  const isPassedOn = facts.upstream_status === status && facts.error_code === undefined;
  if (status === 500 && !isPassedOn) return 'error';
  const isProbe = route.startsWith('/health') || route.startsWith('/metrics');
  return isProbe && status < 500 ? 'debug' : 'info';
}
