import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { assertIdentityFits } from '../../identity/forwarding/identity-forwarding.js';
import { runTest } from '../../secret-references/mapped-resource/run-test.js';
import { contextOf } from '../../telemetry/request-context.js';
import { McpOutbound } from '../endpoints/mcp-outbound.js';
import { McpProbeClient, testTimeoutMs } from '../probe/probe-client.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
import { McpServerTrial } from './mcp-server.trial.js';
import type { McpServerTestResponse } from './mcp-server.response.js';

/** Requests a server's tools as the caller of the test, and stores them. */
@Injectable()
export class McpServerProbe {
  constructor(
    private readonly trial: McpServerTrial,
    private readonly store: McpServerStore,
    private readonly tools: McpServerToolStore,
    private readonly outbound: McpOutbound,
    private readonly client: McpProbeClient,
  ) {}

  /** A user's token in the request counts as the caller's, as in a call. */
  async test(principal: Principal, ref: string, request: Request): Promise<McpServerTestResponse> {
    const row = await this.store.get(principal, ref);
    await this.store.record(this.store.manager, principal, 'test', row, []);
    const context = contextOf(request);
    return runTest(context.facts, async () => {
      const { server, caller } = await this.trial.open(principal, row, request);
      const { traceId } = principal;
      // The test must use the current secrets.
      const headers = await this.outbound.headersFor({ server, caller, client: [], traceId, secrets: 'fresh' });
      const presented = Object.fromEntries(headers);
      const found = await this.client
        .ask(server, presented, context.caller, testTimeoutMs(server))
        .catch((error: unknown) => {
          const status = error instanceof GatewayError ? error.provider?.status : undefined;
          assertIdentityFits(status, headers, server.identity.userIdentityForwarding);
          throw error;
        });
      const { tools, isWhole, ...about } = found;
      await (isWhole ? this.tools.remember(row, tools, principal) : this.tools.note(row, tools, principal));
      return { ...about, tools: tools.length };
    });
  }
}
