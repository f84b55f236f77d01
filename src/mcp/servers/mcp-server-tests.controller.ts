import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { NoFieldsDto } from '../../common/validation/no-fields.dto.js';
import { contextOf } from '../../telemetry/request-context.js';
import { HeadersPreviewResponse, McpServerTestResponse } from './mcp-server-test.response.js';
import { McpServerPreview } from './mcp-server.preview.js';
import { McpServerProbe } from './mcp-server.probe.js';

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
    return this.probe.test(principal, ref, contextOf(request));
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
