import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { AppConfig } from '../../config/environment.js';
import {
  protectedResourceMetadata,
  type ProtectedResourceMetadata,
} from '../../identity/authenticators/protected-resource.js';
import { McpServerDirectory } from '../servers/mcp-server.directory.js';
import { addressOf, type McpEndpoint } from './mcp-address.js';
import { McpEntry, portOf } from './mcp-entry.js';

@Injectable()
export class McpMetadata {
  constructor(
    private readonly directory: McpServerDirectory,
    private readonly entry: McpEntry,
    private readonly config: AppConfig,
  ) {}

  /** @throws GatewayError `not_found` also for a server that takes keys only: there is nowhere to log in */
  async of(request: Request, endpoint: McpEndpoint): Promise<ProtectedResourceMetadata> {
    const address = addressOf(request);
    const server = await this.directory.findUnambiguous(address);
    if (server === undefined) throw new GatewayError('not_found');
    const identity = this.entry.identityOf(server, { address, endpoint, port: portOf(request) });
    const metadata = protectedResourceMetadata(identity, this.config);
    if (metadata === undefined) throw new GatewayError('not_found');
    return metadata;
  }
}
