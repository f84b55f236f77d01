import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, In, type Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { type LogListOf, toLogList } from '../common/pagination/list.js';
import { foldId } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, searched } from '../database/list-options.js';
import { readLogPage } from '../database/log-page.js';
import { insertRow } from '../database/rows.js';
import { timeRange } from '../database/time-range.js';
import { AuditLogEntry } from './audit-log-entry.entity.js';
import type { AuditedUser, AuditRecord } from './audit-record.js';
import { type AuditLogEntryResponse, toAuditLogEntryResponse } from './audit.response.js';
import type { AuditLogFilter, AuditLogQuery } from './audit-log.query.js';

/** Who acts, and in which organisation: a caller, or the gateway itself at its first start. */
export interface Actor {
  readonly kind: Principal['kind'] | 'gateway';
  readonly id: string;
  readonly organisationId: string;
  /** Trace of the request in which it acts, when there is one. */
  readonly traceId?: string;
  readonly onCreate?: Principal['onCreate'];
  readonly name?: string;
  readonly clientAddress?: string | undefined;
}

/** As long as the column. */
const MAX_NAME = 2_048;
/** Rows of an export that are in memory at a time. */
const EXPORT_ROWS = 500;

@Injectable()
export class AuditService {
  constructor(@InjectRepository(AuditLogEntry) private readonly entries: Repository<AuditLogEntry>) {}

  /** Writes an entry in the caller's transaction: a change without its entry, or the other way round, cannot be. */
  async record(manager: EntityManager, actor: Actor, record: AuditRecord): Promise<void> {
    if (record.action.endsWith('.create')) await actor.onCreate?.(manager, record.resourceId);
    const entry = manager.create(AuditLogEntry, {
      organisationId: actor.organisationId,
      workspaceId: record.workspaceId,
      actorType: actor.kind,
      actorId: actor.id,
      actorName: actor.name ?? null,
      clientAddress: actor.clientAddress ?? null,
      action: record.action,
      resourceType: record.resourceType,
      resourceId: record.resourceId,
      resourceName: record.resourceName?.slice(0, MAX_NAME) ?? null,
      changedFields: [...record.changedFields],
      user: toAuditedUser(record.user),
      traceId: actor.traceId ?? null,
    });
    await insertRow(manager, Object.assign(entry, { changes: record.changes }));
  }

  /** Entries of the caller's tenant. */
  async list(principal: Principal, query: AuditLogQuery): Promise<LogListOf<AuditLogEntryResponse>> {
    const filters = whereOf(principal, query);
    return toLogList(await readLogPage(this.entries, tenantWhere(principal), filters, query), toAuditLogEntryResponse);
  }

  /** Every entry of the caller's tenant, oldest first, some at a time. */
  async *pages(principal: Principal, filter: AuditLogFilter): AsyncGenerator<readonly AuditLogEntryResponse[], void> {
    const where = whereOf(principal, filter);
    let last: AuditLogEntry | undefined;
    do {
      const query = this.entries.createQueryBuilder('entry').where(where);
      // By the row itself: a date of JavaScript has fewer digits than the column.
      if (last !== undefined) query.andWhere(AFTER, { last: last.id });
      const rows = await query.orderBy('entry.createdAt').addOrderBy('entry.id').take(EXPORT_ROWS).getMany();
      yield rows.map(toAuditLogEntryResponse);
      last = rows.length === EXPORT_ROWS ? rows.at(-1) : undefined;
    } while (last !== undefined);
  }
}

const AFTER = `(entry.created_at, entry.id) > (SELECT created_at, id FROM audit_log_entries WHERE id = :last)`;

function whereOf(principal: Principal, filter: AuditLogFilter): FindOptionsWhere<AuditLogEntry>[] {
  const { actor, action, resource: resourceId, resource_type: resourceType } = filter;
  // Ids of keys are stored in one spelling, subjects of tokens as they are.
  const actorId = actor === undefined ? undefined : In([actor, foldId(actor)]);
  const named = withoutUndefined({ actorId, action, resourceId, resourceType, createdAt: timeRange(filter) });
  return both(
    [{ ...named, ...tenantWhere(principal) }],
    searched(filter.search, ['resourceName', 'action', 'actorName', 'traceId']),
  );
}

/** Without the user's claims, which may be large. */
function toAuditedUser(user: AuditRecord['user']): AuditedUser | null {
  if (!user) return null;
  const { user_id, email, username, sub } = user;
  return { user_id, ...withoutUndefined({ email, username, sub }) };
}
