import { All, Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { McpGateway } from './mcp-gateway.js';
import { McpRoute } from './mcp-route.decorator.js';

/** Where MCP clients connect. A workspace (slug or id) goes before the server where several have one of its name. */
@ApiExcludeController()
@Controller([':server', ':workspace/:server'])
export class McpController {
  constructor(private readonly gateway: McpGateway) {}

  @Post('mcp')
  @McpRoute()
  async sendMcpMessage(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'mcp');
  }

  @Get('mcp')
  @McpRoute()
  async openMcpStream(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'mcp');
  }

  @Delete('mcp')
  @McpRoute()
  async endMcpSession(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'mcp');
  }

  /** Preflights, and methods that are refused. */
  @All('mcp')
  @McpRoute()
  async others(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'mcp');
  }

  /** The older transport: a stream for what the server says … */
  @Get('sse')
  @McpRoute()
  async openLegacyMcpStream(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'sse');
  }

  @All('sse')
  @McpRoute()
  async legacyStreamOthers(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'sse');
  }

  /** … and an address for what the client says. */
  @Post('messages')
  @McpRoute()
  async sendLegacyMcpMessage(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'messages');
  }

  @All('messages')
  @McpRoute()
  async legacyMessageOthers(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.gateway.serve(request, response, 'messages');
  }
}
