import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { tenantWhere } from '../../access/tenant-where.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { both, searched } from '../../database/list-options.js';
import { type LogPage, readLogPage } from '../../database/log-page.js';
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

  /** Calls of one server by the caller's own tenant. */
  async list(principal: Principal, ref: string, query: McpCallListQuery): Promise<LogPage<McpCall>> {
    const { id: serverId } = await this.servers.get(principal, ref);
    const { user_id: userId, tool, outcome, status } = query;
    const named = withoutUndefined({ userId, tool, outcome, status, createdAt: timeRange(query) });
    const owner = { ...tenantWhere(principal), serverId };
    const filters = both([{ ...named, ...owner }], searched(query.search, ['tool', 'userId', 'traceId']));
    return readLogPage(this.calls, owner, filters, query);
  }
}
