import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { Upserts } from '../../access/upserts.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { CreatedResponse } from '../../common/http/created.response.js';
import { SearchPageQuery } from '../../common/pagination/list.query.js';
import { McpServerListQuery } from './dto/mcp-server-list.query.js';
import { CreateMcpServerDto, UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import {
  McpServerListResponse,
  McpServerResponse,
  HeadersPreviewResponse,
  McpServerTestResponse,
  McpServerToolListResponse,
} from './mcp-server.response.js';
import { McpServersService } from './mcp-servers.service.js';
import type { Request, Response } from 'express';
import { NoFieldsDto } from '../../common/validation/no-fields.dto.js';
import { McpServerPreview } from './mcp-server.preview.js';
import { McpServerProbe } from './mcp-server.probe.js';
import { IdempotentCreate } from '../../idempotency/idempotent.decorator.js';
import { UpdateMcpServerToolsDto } from './dto/mcp-server-tools.dto.js';
import { McpServerToolsService } from './mcp-server-tools.service.js';

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers')
export class McpServersController {
  constructor(
    private readonly servers: McpServersService,
    private readonly upserts: Upserts,
  ) {}

  /** Registers an MCP server, so that clients can connect to it through the gateway. */
  @Post()
  @RequireScope('mcp_servers.create')
  @IdempotentCreate()
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
    @Query() query: McpServerListQuery,
  ): Promise<McpServerListResponse> {
    return this.servers.list(principal, query);
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

  /** Updates the named fields of an MCP server, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('mcp_servers.update')
  @ApiOkResponse({ type: McpServerResponse })
  @ApiCreatedResponse({ type: McpServerResponse, description: 'It was created: no MCP server had this slug.' })
  async putMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateMcpServerDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<McpServerResponse> {
    const request = { principal, ref, dto, response, type: CreateMcpServerDto, scope: 'mcp_servers.create' } as const;
    return this.upserts.put(
      request,
      () => this.servers.update(principal, ref, dto),
      async (fields) => this.servers.get(principal, (await this.servers.create(principal, fields)).id),
    );
  }

  /** Deletes an MCP server; its open streams end within 10 seconds. */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('mcp_servers.delete')
  async deleteMcpServer(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.servers.delete(principal, ref);
  }
}

@ManagementApi('MCP servers')
@Controller('v1/mcp-servers/:ref')
export class McpServerTestsController {
  constructor(
    private readonly probe: McpServerProbe,
    private readonly headers: McpServerPreview,
  ) {}

  /** Tests an MCP server: connects as the caller, and stores the list of its tools. */
  @Post('test')
  @HttpCode(200)
  @RequireScope('mcp_servers.read')
  async testMcpServer(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Req() request: Request,
    @Body() _none: NoFieldsDto,
  ): Promise<McpServerTestResponse> {
    return this.probe.test(principal, ref, request);
  }

  /** Previews the headers that the server would receive with this request. */
  @Post('preview-headers')
  @HttpCode(200)
  @RequireScope('mcp_servers.read')
  async previewMcpServerHeaders(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Req() request: Request,
    @Body() _none: NoFieldsDto,
  ): Promise<HeadersPreviewResponse> {
    return this.headers.preview(principal, ref, request);
  }
}

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
    @Query() query: SearchPageQuery,
  ): Promise<McpServerToolListResponse> {
    return this.tools.list(principal, ref, query);
  }

  /** Enables, disables and accepts tools by name. Tools that are not named keep their state. Returns all tools. */
  @Put()
  @RequireScope('mcp_servers.update')
  async updateMcpServerTools(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateMcpServerToolsDto,
  ): Promise<McpServerToolListResponse> {
    return this.tools.update(principal, ref, dto);
  }
}
