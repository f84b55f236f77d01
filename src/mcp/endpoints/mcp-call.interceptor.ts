import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, of, tap } from 'rxjs';
import { describeDefect } from '../../common/errors/describe-error.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-connection.js';
import { requestOf } from '../../common/http/execution-context.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { Metrics } from '../../telemetry/metrics.js';
import { contextOf } from '../../telemetry/request-context.js';
import type { CallOutcome } from '../../telemetry/tracing.js';
import { callInfoOf, McpCallLog, noteMethod } from '../calls/mcp-call-log.js';
import { ReportedOutcome } from '../inspection/reported-outcome.js';
import { ToolListWatch } from '../inspection/tool-list-watch.js';
import { pathOf } from '../legacy/message-endpoint.js';
import { SessionAnswers } from '../legacy/session-answers.js';
import { DEFAULT_FIRST_BYTE_MS } from './mcp-forwarder.js';
import type { ToolDenial } from '../inspection/tool-denial.js';
import { sendJson } from '../mcp-error.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import { type McpCallContext, mcpCallOf } from './mcp-request.js';

/** Records an authorized call: its span, its row, its usage, its metrics. Answers the call of a disabled tool itself. */
@Injectable()
export class McpCallInterceptor implements NestInterceptor<McpOutcome, McpOutcome> {
  constructor(
    private readonly calls: McpCallLog,
    private readonly metrics: Metrics,
    private readonly sessions: SessionAnswers,
    private readonly lists: ToolListWatch,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<McpOutcome>): Observable<McpOutcome> {
    const call = mcpCallOf(requestOf(context));
    noteMethod(call);
    if (call.denial !== undefined) {
      const outcome = answerDenial(context.getArgByIndex<Response>(1), call, call.denial);
      call.leave();
      this.record(call, outcome);
      return of(outcome);
    }
    const isStream = call.request.method === 'GET';
    if (isStream) this.metrics.mcpStreams.inc();
    const span = contextOf(call.request).span?.startMcpCall(callInfoOf(call));
    if (span !== undefined) call.traceContext = span.headers;
    this.followSession(call);
    return next.handle().pipe(
      tap({
        next: (outcome) => {
          const finish = (): void => {
            span?.end(toCallOutcome(call, outcome));
            this.record(call, outcome);
          };
          const { expectedAnswer } = call;
          if (outcome.error !== undefined || outcome.status >= 300) expectedAnswer?.finish();
          if (expectedAnswer === undefined) finish();
          else expectedAnswer.whenOver(finish);
        },
        error: (error: unknown) => {
          call.expectedAnswer?.finish();
          span?.end({ status: undefined, error: error instanceof GatewayError ? error.code : 'failed' });
          this.calls.recordFailure(call, error);
        },
        finalize: () => {
          if (isStream) this.metrics.mcpStreams.dec();
          call.leave();
        },
      }),
    );
  }

  /** On the older transport, a call is over when its answer has come on the stream of its session. */
  private followSession(call: McpCallContext): void {
    const { server, callerKey, request, message, url } = call;
    if (server.transport !== 'sse') return;
    if (request.method === 'GET') {
      call.sessionStream = this.sessions.openStream(callerKey);
      return;
    }
    const outcome = ReportedOutcome.of(message?.inspected);
    if (outcome === undefined) return;
    const waitMs = server.timeouts.first_byte_ms ?? DEFAULT_FIRST_BYTE_MS;
    const list = this.lists.watchSession(server, message?.inspected);
    call.expectedAnswer = this.sessions.expect(callerKey, pathOf(url), outcome, waitMs, list);
    call.answer = call.expectedAnswer?.outcome;
  }

  private record(call: McpCallContext, outcome: McpOutcome): void {
    const { facts, trace } = contextOf(call.request);
    const { error } = outcome;
    facts.error_code = error?.code;
    facts.error_reason = error?.reason;
    if (error?.code === 'internal_error') {
      this.logger.error({ event: 'defect', trace_id: trace.traceId, error: describeDefect(error.cause) });
    }
    this.calls.record(call, outcome);
  }
}

/** Not with a 4xx, which clients take for a broken transport. The server is not called, so there is no span and no identity. */
function answerDenial(response: Response, { body }: McpCallContext, { status, text }: ToolDenial): McpOutcome {
  sendJson(response, status, text);
  return {
    status,
    wasSent: false,
    upstreamStatus: undefined,
    error: new GatewayError('permission_denied', { reason: 'disabled tool' }),
    requestBytes: body?.length ?? 0,
    responseBytes: Buffer.byteLength(text),
    firstByteMs: undefined,
  };
}

/**
 * A client that disconnects once the answer has begun is not an error: that is how streams end. The type of a JSON-RPC error is
 * its code (semantic conventions of OpenTelemetry for MCP).
 */
function toCallOutcome({ answer }: McpCallContext, { status, upstreamStatus, error }: McpOutcome): CallOutcome {
  const hasLeft = status === CLIENT_CLOSED_REQUEST && upstreamStatus === undefined;
  const { kind, code: rpcCode } = answer?.failure ?? {};
  const reported = rpcCode === undefined ? kind : String(rpcCode);
  return { status: upstreamStatus, error: error?.code ?? reported ?? (hasLeft ? 'caller_gone' : undefined), rpcCode };
}
