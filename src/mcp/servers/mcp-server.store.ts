import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AuditService } from '../../audit/audit.service.js';
import { MappedResourceStore } from '../../secret-references/mapped-resource/mapped-resource.store.js';
import { McpServer } from './mcp-server.entity.js';
import { destinationOf } from './mcp-server.fields.js';

/** Reads and writes MCP servers, always within a tenant. */
@Injectable()
export class McpServerStore extends MappedResourceStore<McpServer> {
  constructor(@InjectRepository(McpServer) rows: Repository<McpServer>, audit: AuditService) {
    super(rows.manager, audit, {
      type: 'mcp-server',
      area: 'mcp_servers',
      rowsOf: (manager) => manager.getRepository(McpServer),
      destinationOf: ({ url, jwtValidation }, _mapped, field) =>
        destinationOf(field, { url, endpoint: jwtValidation?.introspection?.endpoint }),
      ambiguous: 'Several MCP servers have this slug; name the one that is meant by its id.',
    });
  }
}
