import { Controller, Get, Header, HttpCode, Options, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../access/route-access.decorators.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { SLUG_PATTERN } from '../../common/slug.js';
import type { ProtectedResourceMetadata } from '../../identity/authenticators/protected-resource.js';
import { LOGIN_PARAM, ResourceMetadata } from '../../identity/authenticators/resource-metadata.js';
import { McpServerDirectory } from '../servers/mcp-server.directory.js';
import { addressOf, type McpEndpoint, portOf } from './mcp-address.js';
import { McpAdmission } from './mcp-admission.js';

/** Where to log in for a server (RFC 9728). Pages of every origin may read it, since clients in browsers need it first. */
@ApiExcludeController()
@Public('clients read it to find out how to become a caller')
@Controller(['.well-known/oauth-protected-resource/:server', '.well-known/oauth-protected-resource/:workspace/:server'])
export class McpMetadataController {
  constructor(
    private readonly directory: McpServerDirectory,
    private readonly admission: McpAdmission,
    private readonly metadata: ResourceMetadata,
  ) {}

  @Get('mcp')
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'public, max-age=60')
  async ofServer(@Req() request: Request): Promise<ProtectedResourceMetadata> {
    return this.metadataOf(request, 'mcp');
  }

  @Get('sse')
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'public, max-age=60')
  async ofLegacyServer(@Req() request: Request): Promise<ProtectedResourceMetadata> {
    return this.metadataOf(request, 'sse');
  }

  /** Clients send the MCP revision in a header, so browsers ask first. */
  @Options(['mcp', 'sse'])
  @HttpCode(204)
  @Header('access-control-allow-origin', '*')
  @Header('access-control-allow-methods', 'GET')
  @Header('access-control-allow-headers', 'mcp-protocol-version')
  preflight(): void {}

  /**
   * The same for every server and for every name that no server has: callers without a key must not learn which servers exist.
   * Only a server that advertises its issuer differs, and an address that the gateway gave to an authenticated caller.
   * @throws GatewayError `not_found` when there is nowhere to log in
   */
  private async metadataOf(request: Request, endpoint: McpEndpoint): Promise<ProtectedResourceMetadata> {
    const address = addressOf(request);
    if (!SLUG_PATTERN.test(address.server)) throw new GatewayError('not_found');
    const server = await this.directory.findUnambiguous(address);
    const identity = this.admission.identityOf(server, { address, endpoint, port: portOf(request) });
    const login = request.query[LOGIN_PARAM];
    const metadata = this.metadata.read(identity, typeof login === 'string' ? login : undefined);
    if (metadata === undefined) throw new GatewayError('not_found');
    return metadata;
  }
}
