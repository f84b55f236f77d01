import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import type { SearchPageQuery } from '../../common/pagination/list.query.js';
import { toList } from '../../common/pagination/list.js';
import { assertFixedFields, fixedFieldsOf } from '../../common/validation/fixed-fields.decorator.js';
import type { UpdateMcpServerToolsDto } from './dto/mcp-server-tools.dto.js';
import { type McpServerToolListResponse, toToolResponse } from './mcp-server.response.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';

/** Lists a server's tools for administrators, who enable, disable and accept them here. */
@Injectable()
export class McpServerToolsService {
  constructor(
    private readonly store: McpServerStore,
    private readonly tools: McpServerToolStore,
    private readonly directory: McpServerDirectory,
  ) {}

  async list(principal: Principal, ref: string, query: SearchPageQuery): Promise<McpServerToolListResponse> {
    const row = await this.store.get(principal, ref);
    return toList(await this.tools.list(row.id, query), (tool) => toToolResponse(tool, row));
  }

  /** @throws GatewayError `conflict` for a held tool that has changed again since its hash was read */
  async update(principal: Principal, ref: string, dto: UpdateMcpServerToolsDto): Promise<McpServerToolListResponse> {
    assertFixedFields(fixedFieldsOf(dto), { object: 'list' });
    const row = await this.store.manager.transaction(async (manager) => {
      const server = await this.store.getForChange(manager, principal, ref);
      const { before, after } = await this.tools.setEnabled(manager, server.id, dto.tools);
      const accepted = await this.tools.accept(manager, server, dto.tools);
      if (Object.keys({ ...after, ...accepted }).length === 0) return server;
      const snapshots = { before: { tools: before }, after: { tools: after, accepted_tools: accepted } };
      await this.store.record(manager, principal, 'update', server, ['tools'], snapshots);
      return server;
    });
    this.directory.clear();
    return toList(await this.tools.list(row.id), (tool) => toToolResponse(tool, row));
  }
}
