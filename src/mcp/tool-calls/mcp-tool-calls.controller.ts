import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { MayFail } from '../../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { CallMcpServerToolDto } from './mcp-tool-call.dto.js';
import { McpToolCallResponse } from './mcp-tool-call.response.js';
import { McpToolCallsService } from './mcp-tool-calls.service.js';

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers/:ref/tools')
export class McpToolCallsController {
  constructor(private readonly calls: McpToolCallsService) {}

  /**
   * Calls a tool of an MCP server once, as the caller, and returns what it answers. The rules for MCP clients hold: grants, disabled
   * and held tools, the forwarded identity; the call is in the log of calls. For trying a tool out: agents use the server's address.
   */
  @Post(':tool/call')
  @HttpCode(200)
  @ApiParam({ name: 'tool', description: 'The name of the tool.' })
  @RequireScope('mcp.invoke')
  @MayFail(
    'conflict',
    'identity_forwarding_failed',
    'provider_credential_rejected',
    'provider_failed',
    'provider_invalid_response',
    'provider_rejected',
    'provider_timeout',
    'secret_unavailable',
  )
  async callMcpServerTool(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Param('tool') tool: string,
    @Req() request: Request,
    @Body() dto: CallMcpServerToolDto,
  ): Promise<McpToolCallResponse> {
    return this.calls.call(request, principal, ref, { name: tool, args: dto.arguments ?? {} });
  }
}
