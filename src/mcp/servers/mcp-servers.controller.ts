import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { CreatedResponse } from '../../common/http/created.response.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { CreateMcpServerDto, UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import { McpServerListResponse, McpServerResponse } from './mcp-server.response.js';
import { McpServersService } from './mcp-servers.service.js';

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers')
export class McpServersController {
  constructor(private readonly servers: McpServersService) {}

  /** Registers an MCP server, so that clients can connect to it through the gateway. */
  @Post()
  @RequireScope('mcp_servers.create')
  async createMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateMcpServerDto,
  ): Promise<CreatedResponse> {
    const { id, slug } = await this.servers.create(principal, dto);
    return { id, slug, object: 'mcp-server' };
  }

  /** Lists the MCP servers of the caller's tenant, newest first. */
  @Get()
  @RequireScope('mcp_servers.list')
  async listMcpServers(
    @CurrentPrincipal() principal: Principal,
    @Query() page: PageQuery,
  ): Promise<McpServerListResponse> {
    return this.servers.list(principal, page);
  }

  /** Retrieves an MCP server by id or slug, secrets masked. */
  @Get(':ref')
  @RequireScope('mcp_servers.read')
  async retrieveMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<McpServerResponse> {
    return this.servers.get(principal, ref);
  }

  /** Updates the named fields of an MCP server; `headers` are merged. */
  @Patch(':ref')
  @RequireScope('mcp_servers.update')
  async updateMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateMcpServerDto,
  ): Promise<McpServerResponse> {
    return this.servers.update(principal, ref, dto);
  }

  /** Updates the named fields of an MCP server, like PATCH. */
  @Put(':ref')
  @RequireScope('mcp_servers.update')
  async putMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateMcpServerDto,
  ): Promise<McpServerResponse> {
    return this.updateMcpServer(principal, ref, dto);
  }

  /** Deletes an MCP server; its open streams end within 10 seconds. */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('mcp_servers.delete')
  async deleteMcpServer(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.servers.delete(principal, ref);
  }
}
