import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { assertIdentityFits } from '../../identity/forwarding/identity-forwarding.js';
import { contextOf } from '../../telemetry/request-context.js';
import { DEFAULT_FIRST_BYTE_MS } from '../endpoints/mcp-forwarder.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import { McpProbeClient } from '../probe/probe-client.js';
import type { ToolAnswer } from '../probe/probe.types.js';

/** A tool by its name, and what it is called with. */
export interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** Sends a call with the headers that its server would receive from a client. */
@Injectable()
export class McpToolSender {
  constructor(
    private readonly outbound: McpOutbound,
    private readonly client: McpProbeClient,
  ) {}

  /** @param onSend called before the tool may have run */
  async send(call: McpCallContext, { name, args }: ToolCall, onSend: () => void): Promise<ToolAnswer> {
    const { server, caller, traceContext, request } = call;
    const context = contextOf(request);
    const { traceId } = context.trace;
    const headers = await this.outbound.headersFor({ server, caller, client: [], traceId, traceContext });
    const timeoutMs = server.timeouts.first_byte_ms ?? DEFAULT_FIRST_BYTE_MS;
    const params = { name, arguments: args };
    try {
      const sent = { params, timeoutMs, onSend };
      return await this.client.callTool(server, Object.fromEntries(headers), context.caller, sent);
    } catch (error) {
      const status = error instanceof GatewayError ? error.provider?.status : undefined;
      assertIdentityFits(status, headers, server.identity.userIdentityForwarding);
      throw error;
    }
  }
}
