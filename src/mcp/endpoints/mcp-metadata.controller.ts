import { Controller, Get, Header, HttpCode, Options, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../access/public.decorator.js';
import type { ProtectedResourceMetadata } from '../../identity/authenticators/protected-resource.js';
import { McpMetadata } from './mcp-metadata.js';

/** Where to log in for a server (RFC 9728). Readable by pages of every origin, as clients in browsers need it first. */
@ApiExcludeController()
@Public('clients read it to find out how to become a caller')
@Controller(['.well-known/oauth-protected-resource/:server', '.well-known/oauth-protected-resource/:workspace/:server'])
export class McpMetadataController {
  constructor(private readonly metadata: McpMetadata) {}

  @Get('mcp')
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'public, max-age=60')
  async retrieveMcpResourceMetadata(@Req() request: Request): Promise<ProtectedResourceMetadata> {
    return this.metadata.of(request, 'mcp');
  }

  @Get('sse')
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'public, max-age=60')
  async retrieveLegacyMcpResourceMetadata(@Req() request: Request): Promise<ProtectedResourceMetadata> {
    return this.metadata.of(request, 'sse');
  }

  /** Clients say which revision of MCP they speak, about which browsers ask first. */
  @Options(['mcp', 'sse'])
  @HttpCode(204)
  @Header('access-control-allow-origin', '*')
  @Header('access-control-allow-methods', 'GET')
  @Header('access-control-allow-headers', 'mcp-protocol-version')
  preflight(): void {}
}
