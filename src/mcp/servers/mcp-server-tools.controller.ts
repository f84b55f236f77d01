import { Body, Controller, Get, Param, Put, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { toList } from '../../common/pagination/list.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { UpdateMcpServerToolsDto } from './dto/mcp-server-tools.dto.js';
import { McpServerToolListResponse, toToolResponse } from './mcp-server-tool.response.js';
import { McpServerToolsService } from './mcp-server-tools.service.js';

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers/:ref/tools')
export class McpServerToolsController {
  constructor(private readonly tools: McpServerToolsService) {}

  /** Lists the known tools of an MCP server: from its last test, from its lists since then, and disabled ones. */
  @Get()
  @RequireScope('mcp_servers.read')
  async listMcpServerTools(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Query() page: PageQuery,
  ): Promise<McpServerToolListResponse> {
    return toList(await this.tools.list(principal, ref, page), toToolResponse);
  }

  /** Enables and disables tools by name. Tools that are not named keep their state. Returns all tools. */
  @Put()
  @RequireScope('mcp_servers.update')
  async updateMcpServerTools(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateMcpServerToolsDto,
  ): Promise<McpServerToolListResponse> {
    return toList(await this.tools.update(principal, ref, dto), toToolResponse);
  }
}
