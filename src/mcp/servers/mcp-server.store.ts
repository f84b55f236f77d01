import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { MappedResourceStore } from '../../secret-references/mapped-resource.store.js';
import { SecretMappingsService } from '../../secret-references/secret-mappings.service.js';
import { McpServer } from './mcp-server.entity.js';

/** Reads and writes MCP servers, always within a tenant. */
@Injectable()
export class McpServerStore extends MappedResourceStore<McpServer> {
  constructor(@InjectRepository(McpServer) rows: Repository<McpServer>, mappings: SecretMappingsService) {
    super(rows.manager, mappings, {
      type: 'mcp-server',
      rowsOf: (manager) => manager.getRepository(McpServer),
      ambiguous: 'Several MCP servers have this slug; name the one that is meant by its id.',
    });
  }
}
