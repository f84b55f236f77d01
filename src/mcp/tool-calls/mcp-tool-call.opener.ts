import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { mayUseServer } from '../../access/mcp-grants.js';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { contextOf } from '../../telemetry/request-context.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { IncomingMcpRequest, McpCallContext } from '../endpoints/mcp-request.js';
import { noSuchServer } from '../servers/mcp-server.directory.js';
import { McpServerToolStore } from '../servers/mcp-server-tool.store.js';
import { McpServerTrial } from '../servers/mcp-server.trial.js';

/** Finds the server of a call, and who the caller is for it. */
@Injectable()
export class McpToolCallOpener {
  constructor(
    private readonly trial: McpServerTrial,
    private readonly tools: McpServerToolStore,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** @throws GatewayError `not_found` for servers that the caller cannot use, and as McpServerTrial */
  async open(request: Request, principal: Principal, ref: string): Promise<McpCallContext> {
    const row = await this.trial.get(principal, ref);
    if (!mayUseServer(principal.mcpGrants, row)) throw noSuchServer('not among allowed_mcp_servers');
    if (!row.enabled) throw new GatewayError('conflict', { message: 'The MCP server is disabled.' });
    // Of the caller's workspace too: those who are logged in bring none of its settings.
    const { organisationId, workspaceId } = principal;
    const settings = await this.workspaces.callSettings(organisationId, workspaceId ?? row.workspaceId);
    const rules = { ...settings, ...(await this.tools.rulesOf(row)) };
    const { server, caller, identity } = await this.trial.open(principal, row, request, rules);
    const context = contextOf(request);
    context.noteUse(server);
    context.facts.mcp_server = server.slug;
    // Nothing of the request but its caller reaches the server.
    const incoming = new IncomingMcpRequest({ server: server.slug }, 'mcp', 0, []);
    const recheck = (): Promise<void> => Promise.resolve();
    return new McpCallContext(request, incoming, { server, identity, caller, recheck });
  }
}
