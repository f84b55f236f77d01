import { Inject, Injectable } from '@nestjs/common';
import { stringOrUndefined } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { uuidv7 } from '../../common/uuid.js';
import { Metrics } from '../../telemetry/metrics.js';
import { contextOf } from '../../telemetry/request-context.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import type { UsageStore } from '../../usage/usage-store.types.js';
import { rpcMethodOf, toolOf } from '../endpoints/mcp-message.js';
import type { Passage } from '../endpoints/mcp-passage.types.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import { usagesOf } from './mcp-call-usage.js';
import { McpCallRecorder } from './mcp-call.recorder.js';
import type { McpCallRow } from './mcp-call.store.js';
import { methodLabel } from './rpc-method-label.js';

/** How a request ended; what never reached its server has little to tell. */
type Ending = Pick<McpOutcome, 'status' | 'error' | 'requestBytes'> & Partial<McpOutcome>;

/** The row, the usage and the metrics of every request that got as far as a server. */
@Injectable()
export class McpCallLog {
  constructor(
    private readonly recorder: McpCallRecorder,
    private readonly metrics: Metrics,
    @Inject(USAGE_STORE) private readonly usage: UsageStore,
    private readonly clock: Clock,
  ) {}

  /** Call the result once, when the answer has ended. */
  begin(passage: Passage): (ending: Ending) => void {
    const startedAt = performance.now();
    const isStream = passage.request.method === 'GET';
    if (isStream) this.metrics.mcpStreams.inc();
    return (ending) => {
      if (isStream) this.metrics.mcpStreams.dec();
      const totalMs = performance.now() - startedAt;
      this.count(passage, ending, totalMs);
      const now = this.clock.now();
      this.recorder.add(rowOf(passage, ending, totalMs, now));
      // What the gateway itself has refused, or answered instead of the server, is no usage. What was sent is: a tool may
      // have run although its answer never came, or nobody waited for it.
      if (ending.wasSent) this.noteUsage(passage, now);
    };
  }

  private noteUsage(passage: Passage, at: Date): void {
    for (const usage of usagesOf(passage, at)) this.usage.record(usage);
  }

  private count({ request, message }: Passage, { status, firstByteMs }: Ending, totalMs: number): void {
    const method = methodLabel(request.method, message);
    this.metrics.mcpRequests.inc({ method, status });
    if (firstByteMs !== undefined) this.metrics.mcpFirstByteSeconds.observe({ method }, firstByteMs / 1_000);
    if (request.method !== 'GET') this.metrics.mcpSeconds.observe({ method }, totalMs / 1_000);
  }
}

/** In one literal: a row that is put together from parts costs twice, on every call. */
function rowOf(
  { request, server, caller, message, denial }: Passage,
  ending: Ending,
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
    firstByteMs: ending.firstByteMs === undefined ? null : Math.round(ending.firstByteMs),
    totalMs: Math.round(totalMs),
    bytesIn: String(ending.requestBytes),
    bytesOut: String(ending.responseBytes ?? 0),
    traceId: contextOf(request).trace.traceId,
    createdAt,
  };
}
