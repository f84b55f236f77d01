import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { tenantWhere } from '../../access/tenant-where.js';
import { toSkipTake } from '../../common/pagination/list.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { timeRange } from '../../database/time-range.js';
import { McpServerStore } from '../servers/mcp-server.store.js';
import { McpCall } from './mcp-call.entity.js';
import type { McpCallListQuery } from './mcp-call-list.query.js';

/** Reads the log of calls, always within one tenant. */
@Injectable()
export class McpCallHistory {
  constructor(
    private readonly servers: McpServerStore,
    @InjectRepository(McpCall) private readonly calls: Repository<McpCall>,
  ) {}

  /** Calls of one server by the caller's own tenant, newest first. */
  async list(principal: Principal, ref: string, query: McpCallListQuery): Promise<[McpCall[], number]> {
    const { id: serverId } = await this.servers.get(principal, ref);
    const { user_id: userId, tool, outcome, status } = query;
    return this.calls.findAndCount({
      where: {
        ...tenantWhere(principal),
        serverId,
        ...withoutUndefined({ userId, tool, outcome, status, createdAt: timeRange(query) }),
      },
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(query),
    });
  }
}
