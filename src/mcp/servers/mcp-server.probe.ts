import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { runTest } from '../../secret-references/mapped-resource/run-test.js';
import type { RequestContext } from '../../telemetry/request-context.js';
import { callerOfPrincipal } from '../endpoints/caller-of-principal.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import { McpProbeClient, testTimeoutMs } from '../probe/probe-client.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
import type { McpServerTestResponse } from './mcp-server.response.js';

/** Asks a server for its tools, as the caller of the test, and remembers them. */
@Injectable()
export class McpServerProbe {
  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly tools: McpServerToolStore,
    private readonly outbound: McpOutbound,
    private readonly client: McpProbeClient,
  ) {}

  async test(principal: Principal, ref: string, context: RequestContext): Promise<McpServerTestResponse> {
    const row = await this.store.get(principal, ref);
    await this.store.record(this.store.manager, principal, 'test', row, []);
    return runTest(context.facts, async () => {
      const server = await this.definitions.openForUse(row);
      const caller = callerOfPrincipal(principal, server.workspaceId);
      const { traceId } = principal;
      // The test is about the secrets as they are now.
      const headers = await this.outbound.headersFor({ server, caller, client: [], traceId, secrets: 'fresh' });
      const presented = Object.fromEntries(headers);
      const found = await this.client.ask(server, presented, context.caller, testTimeoutMs(server));
      const { tools, isWhole, ...about } = found;
      await (isWhole ? this.tools.remember(row, tools) : this.tools.note(row, tools));
      return { ...about, tools: tools.length };
    });
  }
}
