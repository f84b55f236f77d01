import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { BodyLimits } from '../../common/http/read-body.js';
import { requestOf } from '../../common/http/execution-context.js';
import { AppConfig } from '../../config/environment.js';
import { headerValue } from '../../identity/headers/raw-headers.js';
import { SessionBinding } from '../../identity/sessions/session-binding.js';
import { writeTraceId } from '../../telemetry/context.middleware.js';
import { contextOf } from '../../telemetry/request-context.js';
import { traceContext } from '../../telemetry/trace-headers.js';
import { McpCallLog } from '../calls/mcp-call-log.js';
import { denyToolCalls } from '../inspection/tool-denial.js';
import { messageTarget } from '../legacy/message-endpoint.js';
import { isStateless } from '../protocol-revision.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import { readMessage } from './mcp-message.js';
import { type McpCallContext, mcpCallOf } from './mcp-request.js';
import { McpToolAccess } from './tool-access.js';

/**
 * Whether an authenticated caller may make this call: number of concurrent calls, session, transport of the server, body,
 * tools. In this order, since a body is held in memory: it is read only for a caller who has a place for one more call.
 */
@Injectable()
export class McpAccessGuard implements CanActivate {
  private readonly bodyLimits: BodyLimits;

  constructor(
    private readonly sessions: SessionBinding,
    private readonly proxy: McpProxy,
    private readonly calls: McpCallLog,
    private readonly toolAccess: McpToolAccess,
    config: AppConfig,
  ) {
    this.bodyLimits = {
      maxBytes: config.MAX_JSON_BODY_BYTES,
      totalMs: config.JSON_BODY_TIMEOUT_MS,
      silenceMs: config.BODY_SILENCE_MS,
    };
  }

  /** @throws GatewayError, and RequestAbortedError when the client disconnects first; a refused call has its row as well */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const call = mcpCallOf(requestOf(context));
    try {
      await this.authorize(call);
      return true;
    } catch (error) {
      call.leave();
      this.calls.recordFailure(call, error);
      throw error;
    } finally {
      call.request.rawBody = call.body;
    }
  }

  private async authorize(call: McpCallContext): Promise<void> {
    const { request } = call;
    if (request.method !== 'GET') call.leave = this.proxy.enterCall(call.callerKey);
    call.sessionId = this.sessionOf(call);
    call.url = this.targetOf(call);
    const reading = request.method === 'POST' ? readMessage(request, this.bodyLimits, call) : undefined;
    if (reading instanceof Promise) await reading;
    followTrace(call);
    this.checkTools(call);
  }

  /** The server's own session id. A session of another user looks like one that has ended. */
  private sessionOf(call: McpCallContext): string | undefined {
    const bound = headerValue(call.headers, 'mcp-session-id');
    const revision = headerValue(call.headers, 'mcp-protocol-version') ?? '';
    if (bound === undefined || bound === '') return undefined;
    // Without sessions, the header means nothing.
    if (isStateless(revision) || call.server.transport === 'sse') return undefined;
    return this.unbind(bound, call);
  }

  private targetOf(call: McpCallContext): URL {
    const { endpoint, request, server } = call;
    if (endpoint !== 'mcp' && server.transport !== 'sse') {
      throw new GatewayError('not_found', {
        message: 'The server does not speak this transport; its address ends in /mcp.',
      });
    }
    if (endpoint !== 'messages') return server.url;
    return messageTarget(queryOf(request.url), server.url, { open: (sealed) => this.unbind(sealed, call) });
  }

  private unbind(bound: string, { owner }: McpCallContext): string {
    const sessionId = this.sessions.unbind(bound, owner);
    if (sessionId === undefined) throw new GatewayError('not_found', { message: 'The session does not exist.' });
    return sessionId;
  }

  /** McpCallInterceptor answers the call of a denied tool, with a JSON-RPC error and status 200. */
  private checkTools(call: McpCallContext): void {
    const { message, endpoint } = call;
    const mayUse = this.toolAccess.of(call);
    call.toolAccess = mayUse;
    call.denial = message && mayUse && denyToolCalls(message.inspected, mayUse);
    // On the older transport, a JSON-RPC error would have to come on the other stream.
    if (call.denial !== undefined && endpoint === 'messages') {
      throw new GatewayError('permission_denied', { param: 'params.name' });
    }
  }
}

/** The trace of the message, when the headers name none. The server receives it as the headers would send it, and in the message. */
function followTrace(call: McpCallContext): void {
  const { message, request } = call;
  const given = message?.inspected.messages.find(({ trace }) => trace !== undefined)?.trace;
  const context = contextOf(request);
  if (given === undefined || !context.followTrace(given)) return;
  const { traceId, traceState } = context.trace;
  call.traceContext = traceContext(given.traceparent, { traceState });
  if (request.res !== undefined) writeTraceId(request.res, traceId);
}

/** Parsed without the rest: a target in absolute form may have an authority that no URL can have. */
function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : target.slice(start));
}
