import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { MappedResourceStore } from '../../secret-references/mapped-resource.store.js';
import { SecretMappingsService } from '../../secret-references/secret-mappings.service.js';
import { McpServer } from './mcp-server.entity.js';

/** Sealed columns are left out of queries unless they are named. */
export const WITH_SECRETS = {
  id: true,
  organisationId: true,
  workspaceId: true,
  slug: true,
  name: true,
  description: true,
  url: true,
  transport: true,
  authType: true,
  sealedSecrets: true,
  secretMappings: true,
  userIdentityForwarding: true,
  jwtValidation: true,
  forwardHeaders: true,
  allowedOrigins: true,
  timeouts: true,
  enabled: true,
  createdAt: true,
  updatedAt: true,
} as const;

/** Reads and writes MCP servers, always within a tenant. */
@Injectable()
export class McpServerStore extends MappedResourceStore<McpServer> {
  constructor(@InjectRepository(McpServer) rows: Repository<McpServer>, mappings: SecretMappingsService) {
    super(rows.manager, mappings, {
      type: 'mcp-server',
      rowsOf: (manager) => manager.getRepository(McpServer),
      select: WITH_SECRETS,
      ambiguous: 'Several workspaces have an MCP server with this slug; name it by its id.',
    });
  }
}
