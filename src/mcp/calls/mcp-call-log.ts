import { Inject, Injectable } from '@nestjs/common';
import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-connection.js';
import { BodyRefusedError, RequestAbortedError } from '../../common/http/read-body.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { stringOrUndefined } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { uuidv7 } from '../../common/uuid.js';
import { isDatabaseUnavailable } from '../../database/database-errors.js';
import { Metrics } from '../../telemetry/metrics.js';
import { contextOf } from '../../telemetry/request-context.js';
import type { McpCallInfo } from '../../telemetry/tracing.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import type { UsageStore } from '../../usage/usage-store.types.js';
import { methodLabel, rpcMethodOf, toolOf } from '../endpoints/mcp-message.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import { outcomeOf } from './outcome-classifier.js';
import type { CallOutcome } from './call-outcome.types.js';
import { usagesOf } from './mcp-call-usage.js';
import { McpCallRecorder } from './mcp-call.recorder.js';
import type { McpCallRow } from './mcp-call.store.js';

/** How a call ended. Most fields are unknown for a call that never reached its server. */
type Ending = Pick<McpOutcome, 'status' | 'error' | 'requestBytes'> & Partial<McpOutcome>;

/** Records every call of an authenticated caller: one row, the usage of tools, metrics. */
@Injectable()
export class McpCallLog {
  /** With a label of their own. */
  private readonly servers = new Set<string>();

  constructor(
    private readonly recorder: McpCallRecorder,
    private readonly metrics: Metrics,
    @Inject(USAGE_STORE) private readonly usage: UsageStore,
    private readonly clock: Clock,
  ) {}

  /** Call once per call, when its answer is over. */
  record(call: McpCallContext, ending: Ending): void {
    const totalMs = performance.now() - call.startedAt;
    const outcome = outcomeOf(call, ending);
    this.count(call, ending, outcome, totalMs);
    const now = this.clock.now();
    this.recorder.add(rowOf(call, ending, outcome, totalMs, now));
    contextOf(call.request).noteOutcome(outcome);
    // A call that was sent counts, even when its answer never came: the tool may have run.
    if (ending.wasSent) for (const usage of usagesOf(call, ending, now)) this.usage.record(usage);
  }

  /** Records a call that failed before it reached its server. */
  recordFailure(call: McpCallContext, thrown: unknown): void {
    noteMethod(call);
    this.record(call, endingOf(thrown, call));
  }

  private count(call: McpCallContext, { status, firstByteMs }: Ending, outcome: CallOutcome, totalMs: number): void {
    const { request, message, server } = call;
    const method = methodLabel(request.method, message);
    this.metrics.mcpRequests.inc({ server: this.serverLabel(server), method, status, outcome });
    if (firstByteMs !== undefined) this.metrics.mcpFirstByteSeconds.observe({ method }, firstByteMs / 1_000);
    if (request.method !== 'GET') this.metrics.mcpSeconds.observe({ method }, totalMs / 1_000);
  }

  private serverLabel({ slug }: Pick<McpCallContext['server'], 'slug'>): string {
    if (this.servers.size < MAX_SERVER_LABELS) this.servers.add(slug);
    return this.servers.has(slug) ? slug : 'other';
  }
}

/** More servers than these share one label, so that servers that come and go do not fill the memory of Prometheus. */
const MAX_SERVER_LABELS = 1_000;

/** For the request's log line and span; `record` is called later. Early, because the line is written when the answer is out, before the call is over. */
export function noteMethod(call: McpCallContext): void {
  const context = contextOf(call.request);
  context.facts.mcp_method = methodLabel(call.request.method, call.message);
  context.span?.noteMcpCall(callInfoOf(call));
  context.expectOutcome();
}

/** @param ms from the call to the head of its answer */
export function noteHead({ request }: Pick<McpCallContext, 'request'>, status: number, ms: number): void {
  const { facts } = contextOf(request);
  facts.upstream_status = status;
  facts.upstream_ms = Math.round(ms);
}

export function callInfoOf({ request, server, message, denial }: McpCallContext): McpCallInfo {
  const tool = denial?.tool ?? toolOf(message);
  return { server: server.slug, label: methodLabel(request.method, message), rpcMethod: rpcMethodOf(message), tool };
}

function endingOf(thrown: unknown, call: McpCallContext): Ending {
  const requestBytes = requestBytesOf(call, thrown);
  if (thrown instanceof RequestAbortedError) return { status: CLIENT_CLOSED_REQUEST, error: undefined, requestBytes };
  if (thrown instanceof GatewayError) return { status: thrown.status, error: thrown, requestBytes };
  const error = new GatewayError(isDatabaseUnavailable(thrown) ? 'store_unavailable' : 'internal_error');
  return { status: error.status, error, requestBytes };
}

/** How much of the body came; the announced length when the call was refused before the body was read. */
function requestBytesOf({ body, request }: McpCallContext, thrown: unknown): number {
  if (body !== undefined) return body.length;
  if (thrown instanceof RequestAbortedError) return 0;
  return thrown instanceof BodyRefusedError ? thrown.readBytes : Number(request.headers['content-length'] ?? 0);
}

/** In one literal: a row that is put together from parts costs twice, on every call. */
function rowOf(
  { request, server, caller, message, denial, answer }: McpCallContext,
  ending: Ending,
  outcome: CallOutcome,
  totalMs: number,
  createdAt: Date,
): McpCallRow {
  const { principal, claims, kind } = caller;
  return {
    id: uuidv7(createdAt),
    organisationId: principal.organisationId,
    workspaceId: principal.workspaceId ?? server.workspaceId,
    serverId: server.id,
    serverSlug: server.slug,
    callerType: kind,
    callerId: principal.id,
    userId: stringOrUndefined(claims['sub']) ?? null,
    httpMethod: request.method,
    rpcMethod: rpcMethodOf(message) ?? null,
    tool: denial?.tool ?? toolOf(message) ?? null,
    status: ending.status,
    errorCode: ending.error?.code ?? null,
    outcome,
    rpcErrorCode: answer?.failure?.code ?? null,
    firstByteMs: ending.firstByteMs === undefined ? null : Math.round(ending.firstByteMs),
    totalMs: Math.round(totalMs),
    bytesIn: String(ending.requestBytes),
    bytesOut: String(ending.responseBytes ?? 0),
    traceId: contextOf(request).trace.traceId,
    createdAt,
  };
}
