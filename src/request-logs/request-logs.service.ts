import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, type FindOperator, MoreThanOrEqual, type Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, pageAndOrder, searched } from '../database/list-options.js';
import { timeRange } from '../database/time-range.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { RequestLogListQuery } from './dto/request-log-list.query.js';
import { RequestLog } from './request-log.entity.js';

/** Reads the log of calls, always within one tenant. */
@Injectable()
export class RequestLogsService {
  constructor(
    @InjectRepository(RequestLog) private readonly logs: Repository<RequestLog>,
    private readonly workspaces: WorkspacesService,
  ) {}

  async list(principal: Principal, query: RequestLogListQuery): Promise<[RequestLog[], number]> {
    const { actor_id: actorId, user_id: userId, session, route, model, provider, virtual_key: virtualKey } = query;
    const { mcp_server: mcpServer, trace_id: traceId, min_duration_ms: least } = query;
    const named = withoutUndefined({
      actorId,
      userId,
      session,
      route,
      model,
      provider,
      virtualKey,
      mcpServer,
      traceId,
      createdAt: timeRange(query),
      status: statusOf(query),
      durationMs: least === undefined ? undefined : MoreThanOrEqual(least),
    });
    const owner = { ...(await this.workspaces.filterBy(principal, query.workspace_id)), ...tenantWhere(principal) };
    return this.logs.findAndCount({
      where: both([{ ...named, ...owner }], searched(query.search, ['model', 'actorId', 'errorCode'])),
      ...pageAndOrder(query),
    });
  }

  /** @throws GatewayError `not_found` */
  async get(principal: Principal, id: string): Promise<RequestLog> {
    const log = isUuid(id) ? await this.logs.findOneBy({ ...tenantWhere(principal), id }) : null;
    if (log === null) throw new GatewayError('not_found');
    return log;
  }
}

function statusOf({ status, status_class: kind }: RequestLogListQuery): number | FindOperator<number> | undefined {
  if (status !== undefined) return status;
  return kind === undefined ? undefined : Between(kind * 100, kind * 100 + 99);
}
