import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { AuditService } from '../../audit/audit.service.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { failedTest } from '../../secret-references/failed-test.js';
import type { RequestContext } from '../../telemetry/request-context.js';
import { callerOfPrincipal } from '../endpoints/caller-of-principal.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import { McpProbeClient, testTimeoutMs } from '../probe/probe-client.js';
import { entryOf } from './audit-entry.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
import type { McpServerTestResponse } from './mcp-server-test.response.js';

/** Asks a server for its tools, as the caller of the test, and remembers them. */
@Injectable()
export class McpServerProbe {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly tools: McpServerToolStore,
    private readonly outbound: McpOutbound,
    private readonly client: McpProbeClient,
    private readonly audit: AuditService,
  ) {}

  async test(principal: Principal, ref: string, context: RequestContext): Promise<McpServerTestResponse> {
    const row = await this.store.get(principal, ref);
    await this.audit.record(this.store.manager, principal, entryOf('test', row, []));
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      const server = await this.definitions.openForUse(row);
      const caller = callerOfPrincipal(principal, server.workspaceId);
      const { traceId } = principal;
      // Whoever asks wants to know of the secrets as they are now.
      const headers = await this.outbound.headersFor({ server, caller, client: [], traceId, secrets: 'fresh' });
      const presented = Object.fromEntries(headers);
      const { tools, isWhole, ...found } = await this.client.ask(
        server,
        presented,
        context.caller,
        testTimeoutMs(server),
      );
      const latency_ms = elapsed();
      await (isWhole ? this.tools.remember(row, tools) : this.tools.note(row, tools));
      return { ok: true, latency_ms, ...found, tools: tools.length };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ok: false, latency_ms: elapsed(), ...failedTest(error, context.facts) };
    }
  }
}
