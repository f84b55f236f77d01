import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { callerOfPrincipal } from '../endpoints/caller-of-principal.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerTools } from './mcp-server.tools.js';
import type { McpServerTestResponse } from './mcp-server-test.response.js';
import { McpReach } from './mcp-reach.js';
import { probeFailure } from './probe-failure.js';
import { toUsableMcpServer } from './usable-mcp-server.js';

/** Asks a server for its tools, as the caller of the test, and remembers them. */
@Injectable()
export class McpServerProbe {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly tools: McpServerTools,
    private readonly outbound: McpOutbound,
    private readonly reach: McpReach,
  ) {}

  async test(principal: Principal, ref: string): Promise<McpServerTestResponse> {
    const row = await this.store.get(principal, ref);
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      const server = toUsableMcpServer(row, this.definitions.open(row), new Set());
      const caller = callerOfPrincipal(principal, server.workspaceId);
      const headers = await this.outbound.headersFor({ server, caller, client: [], traceId: principal.traceId });
      const { tools, ...found } = await this.reach.ask(server, headers).catch(toGatewayError);
      const latency_ms = elapsed();
      await this.tools.remember(row.id, tools);
      return { ok: true, latency_ms, ...found, tools: tools.length };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ok: false, latency_ms: elapsed(), error: error.code };
    }
  }
}

function toGatewayError(thrown: unknown): never {
  throw new GatewayError(probeFailure(thrown), { cause: thrown });
}
