import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { toLogList } from '../../common/pagination/list.js';
import { McpCallHistory } from './mcp-call.history.js';
import { McpCallListQuery } from './mcp-call-list.query.js';
import { McpCallListResponse, toMcpCallResponse } from './mcp-call.response.js';

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers/:ref/calls')
export class McpCallsController {
  constructor(private readonly history: McpCallHistory) {}

  /** Lists the calls of an MCP server, newest first. Calls are kept for 90 days and appear after a second. */
  @Get()
  @RequireScope('mcp_servers.read')
  async listMcpServerCalls(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Query() query: McpCallListQuery,
  ): Promise<McpCallListResponse> {
    return toLogList(await this.history.list(principal, ref, query), toMcpCallResponse);
  }
}
