import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { tenantWhere } from '../../access/tenant-where.js';
import { toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import { McpServerStore } from '../servers/mcp-server.store.js';
import { McpCall } from './mcp-call.entity.js';

/** Reads the log of calls, always within one tenant. */
@Injectable()
export class McpCallHistory {
  constructor(
    private readonly servers: McpServerStore,
    @InjectRepository(McpCall) private readonly calls: Repository<McpCall>,
  ) {}

  /** Calls of one server by the caller's own tenant, newest first. */
  async list(principal: Principal, ref: string, page: PageQuery): Promise<[McpCall[], number]> {
    const { id: serverId } = await this.servers.get(principal, ref);
    return this.calls.findAndCount({
      where: { ...tenantWhere(principal), serverId },
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(page),
    });
  }
}
