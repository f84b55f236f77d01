import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { excessOf, MAX_JSON_DEPTH } from '../../common/json/scan.js';
import { contextOf } from '../../telemetry/request-context.js';
import { callInfoOf, McpCallLog, noteMethod } from '../calls/mcp-call-log.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import { McpToolAccess } from '../endpoints/tool-access.js';
import { inspectBody } from '../inspection/inspect-body.js';
import { ReportedOutcome } from '../inspection/reported-outcome.js';
import { denyToolCalls } from '../inspection/tool-denial.js';
import type { ToolAnswer } from '../probe/probe.types.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import { McpToolCallOpener } from './mcp-tool-call.opener.js';
import { McpToolSender, type ToolCall } from './mcp-tool.sender.js';
import { type McpToolCallResponse, toToolCallResponse } from './mcp-tool-call.response.js';

/** A call is a request of its own. */
const RPC_ID = 1;
const TOO_DEEP = `the result nests more than ${MAX_JSON_DEPTH} levels`;

/**
 * Calls a tool for who tries it out, through the API. What holds for MCP clients holds here: grants of the key, disabled and held
 * tools, calls in flight, the identity that the server receives, the log of calls and the usage.
 */
@Injectable()
export class McpToolCallsService {
  constructor(
    private readonly access: McpToolAccess,
    private readonly calls: McpCallLog,
    private readonly proxy: McpProxy,
    private readonly sender: McpToolSender,
    private readonly opener: McpToolCallOpener,
  ) {}

  /** @throws GatewayError `not_found`, `permission_denied` for a tool that the caller may not use; errors of the server */
  async call(request: Request, principal: Principal, ref: string, tool: ToolCall): Promise<McpToolCallResponse> {
    const call = await this.opener.open(request, principal, ref);
    try {
      call.leave = this.proxy.enterCall(call.callerKey);
      this.authorize(call, tool);
    } catch (error) {
      call.leave();
      this.calls.recordFailure(call, error);
      throw error;
    }
    noteMethod(call);
    try {
      return await this.send(call, tool);
    } finally {
      call.leave();
    }
  }

  private authorize(call: McpCallContext, { name, args }: ToolCall): void {
    const params = { name, arguments: args };
    call.body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: RPC_ID, method: 'tools/call', params }));
    const inspected = inspectBody(call.body);
    call.message = { inspected, tools: [name] };
    call.toolAccess = this.access.of(call);
    call.denial = call.toolAccess && denyToolCalls(inspected, call.toolAccess);
    if (call.denial === undefined) return;
    const message = 'The tool is disabled, or held back, or the key may not use it.';
    throw new GatewayError('permission_denied', { message, param: 'tool' });
  }

  private async send(call: McpCallContext, tool: ToolCall): Promise<McpToolCallResponse> {
    const span = contextOf(call.request).span?.startMcpCall(callInfoOf(call));
    if (span !== undefined) call.traceContext = span.headers;
    let wasSent = false;
    const requestBytes = call.body?.length ?? 0;
    try {
      const answer = await this.sender.send(call, tool, () => (wasSent = true));
      call.answer = outcomeOf(call, answer);
      const responseBytes = sizeOf(answer);
      const ending = { status: 200, wasSent, upstreamStatus: 200, error: undefined, requestBytes, responseBytes };
      this.calls.record(call, ending);
      const rpcCode = 'error' in answer ? answer.error.code : undefined;
      span?.end({ status: 200, error: call.answer?.failure?.kind, rpcCode });
      return toToolCallResponse(answer, performance.now() - call.startedAt);
    } catch (error) {
      span?.end({ status: undefined, error: error instanceof GatewayError ? error.code : 'failed' });
      if (wasSent && error instanceof GatewayError) {
        this.calls.record(call, { status: error.status, wasSent, error, requestBytes });
      } else this.calls.recordFailure(call, error);
      throw error;
    }
  }
}

/** @throws GatewayError `provider_invalid_response` for an answer that nests too deep to be written again */
function sizeOf(answer: ToolAnswer): number {
  const text = textOf(answer);
  if (excessOf(text, { depth: MAX_JSON_DEPTH }) === undefined) return text.length;
  throw new GatewayError('provider_invalid_response', { reason: TOO_DEEP });
}

function textOf(answer: ToolAnswer): Buffer {
  try {
    return Buffer.from(JSON.stringify(answer));
  } catch (cause) {
    throw new GatewayError('provider_invalid_response', { reason: TOO_DEEP, cause });
  }
}

function outcomeOf({ message }: McpCallContext, answer: ToolAnswer): ReportedOutcome | undefined {
  const outcome = ReportedOutcome.of(message?.inspected);
  const isToolError = 'result' in answer && answer.result['isError'] === true;
  const code = 'error' in answer ? String(answer.error.code) : '';
  outcome?.note(RPC_ID, { id: String(RPC_ID), hasError: 'error' in answer, code, isToolError });
  return outcome;
}
