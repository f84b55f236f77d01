import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, type FindOperator, In, MoreThanOrEqual, type Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { auditRecords } from '../audit/audit-record.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, searched } from '../database/list-options.js';
import { type LogPage, readLogPage } from '../database/log-page.js';
import { timeRange } from '../database/time-range.js';
import { LOGGED_OUTCOMES } from '../telemetry/logged-outcome.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { RequestLogListQuery } from './dto/request-log-list.query.js';
import { LoggedBodies } from './logged-bodies.js';
import type { PackedBodies } from './packed-bodies.js';
import { RequestLog } from './request-log.entity.js';

/** The outcomes that `failed` stands for. */
const ERRORS = LOGGED_OUTCOMES.filter((outcome) => outcome.endsWith('_error'));

const entryOf = auditRecords<'read_bodies'>('logs', 'log');

/** Reads the log of calls, always within one tenant. */
@Injectable()
export class RequestLogsService {
  constructor(
    @InjectRepository(RequestLog) private readonly logs: Repository<RequestLog>,
    private readonly workspaces: WorkspacesService,
    private readonly bodies: LoggedBodies,
    private readonly audit: AuditService,
  ) {}

  async list(principal: Principal, query: RequestLogListQuery): Promise<LogPage<RequestLog>> {
    const { actor_id: actorId, user_id: userId, session, route, model, provider, virtual_key: virtualKey } = query;
    const { model_requested: modelRequested, mcp_server: mcpServer, trace_id: traceId, min_duration_ms: least } = query;
    const named = withoutUndefined({
      actorId,
      userId,
      session,
      route,
      model,
      modelRequested,
      provider,
      virtualKey,
      mcpServer,
      traceId,
      createdAt: timeRange(query),
      status: statusOf(query),
      outcome: query.outcome === 'failed' ? In(ERRORS) : query.outcome,
      durationMs: least === undefined ? undefined : MoreThanOrEqual(least),
    });
    const tenant = tenantWhere(principal);
    const owner = { ...(await this.workspaces.filterBy(principal, query.workspace_id)), ...tenant };
    const filters = both(
      [{ ...named, ...owner }],
      searched(query.search, ['model', 'mcpServer', 'mcpMethod', 'route', 'actorId', 'errorCode', 'traceId']),
    );
    return readLogPage(this.logs, tenant, filters, query);
  }

  /** @throws GatewayError `not_found` */
  async get(principal: Principal, id: string): Promise<RequestLog> {
    const log = isUuid(id) ? await this.logs.findOneBy({ ...tenantWhere(principal), id }) : null;
    if (log === null) throw new GatewayError('not_found');
    return log;
  }

  /** @throws GatewayError `not_found`, also where no bodies are kept; `store_unavailable` */
  async bodiesOf(
    principal: Principal,
    id: string,
  ): Promise<{ readonly log: RequestLog; readonly bodies: PackedBodies }> {
    const log = await this.get(principal, id);
    const bodies = log.bodiesUntil === null ? undefined : await this.bodies.read(log, log.bodiesUntil);
    if (bodies === undefined) throw new GatewayError('not_found', { message: 'No bodies of this call are kept.' });
    await this.audit.record(
      this.logs.manager,
      principal,
      entryOf('read_bodies', { id: log.id, workspaceId: log.workspaceId, name: log.route }, []),
    );
    return { log, bodies };
  }
}

function statusOf({ status, status_class: kind }: RequestLogListQuery): number | FindOperator<number> | undefined {
  if (status !== undefined) return status;
  return kind === undefined ? undefined : Between(kind * 100, kind * 100 + 99);
}
