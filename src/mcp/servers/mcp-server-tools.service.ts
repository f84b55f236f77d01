import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import type { UpdateMcpServerToolsDto } from './dto/mcp-server-tools.dto.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
import type { McpServerTool } from './mcp-server-tool.entity.js';

/** What administrators see of a server's tools, and which of them they let through. */
@Injectable()
export class McpServerToolsService {
  constructor(
    private readonly store: McpServerStore,
    private readonly tools: McpServerToolStore,
    private readonly directory: McpServerDirectory,
  ) {}

  async list(principal: Principal, ref: string, page: PageQuery): Promise<[McpServerTool[], number]> {
    return this.tools.list((await this.store.get(principal, ref)).id, page);
  }

  async update(principal: Principal, ref: string, dto: UpdateMcpServerToolsDto): Promise<[McpServerTool[], number]> {
    const id = await this.store.manager.transaction(async (manager) => {
      const row = await this.store.getForChange(manager, principal, ref);
      await this.tools.setEnabled(manager, row.id, dto.tools);
      await this.store.record(manager, principal, 'update', row, ['tools']);
      return row.id;
    });
    this.directory.clear();
    return this.tools.list(id);
  }
}
