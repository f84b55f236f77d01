import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  And,
  type EntityManager,
  type FindOptionsWhere,
  In,
  LessThan,
  MoreThanOrEqual,
  type Repository,
} from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { invalidField } from '../common/errors/gateway.error.js';
import { type ListOf, toList, toSkipTake } from '../common/pagination/list.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';
import { foldId } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { AuditLogEntry } from './audit-log-entry.entity.js';
import type { AuditRecord } from './audit-record.js';
import { type AuditLogEntryResponse, toAuditLogEntryResponse } from './audit.response.js';
import type { AuditLogQuery } from './audit-log.query.js';

/** Who acts, and in which organisation: a caller, or the gateway itself at its first start. */
export interface Actor {
  readonly kind: Principal['kind'] | 'gateway';
  readonly id: string;
  readonly organisationId: string;
  /** Trace of the request in which it acts, when there is one. */
  readonly traceId?: string;
  readonly onCreate?: Principal['onCreate'];
}

@Injectable()
export class AuditService {
  constructor(@InjectRepository(AuditLogEntry) private readonly entries: Repository<AuditLogEntry>) {}

  /** Writes an entry in the caller's transaction: a change without its entry, or the other way round, cannot be. */
  async record(manager: EntityManager, actor: Actor, record: AuditRecord): Promise<void> {
    if (record.action.endsWith('.create')) await actor.onCreate?.(manager, record.resourceId);
    await manager.insert(AuditLogEntry, {
      organisationId: actor.organisationId,
      workspaceId: record.workspaceId,
      actorType: actor.kind,
      actorId: actor.id,
      action: record.action,
      resourceType: record.resourceType,
      resourceId: record.resourceId,
      changedFields: [...record.changedFields],
      traceId: actor.traceId ?? null,
    });
  }

  /** Entries of the caller's tenant, newest first. */
  async list(principal: Principal, query: AuditLogQuery): Promise<ListOf<AuditLogEntryResponse>> {
    const { actor, action, resource: resourceId } = query;
    // Ids of keys are stored in one spelling, subjects of tokens as they are.
    const actorId = actor === undefined ? undefined : In([actor, foldId(actor)]);
    const where: FindOptionsWhere<AuditLogEntry> = {
      ...tenantWhere(principal),
      ...withoutUndefined({ actorId, action, resourceId, createdAt: timeRange(query) }),
    };
    const found = await this.entries.findAndCount({
      where,
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(query),
    });
    return toList(found, toAuditLogEntryResponse);
  }
}

/** Both seconds are included to their end: an entry belongs to the second in which it was written. */
function timeRange({ from, to }: AuditLogQuery) {
  if (from !== undefined && to !== undefined && from > to) throw invalidField('from', 'must not be after to');
  const since = from === undefined ? undefined : MoreThanOrEqual(fromUnixSeconds(from));
  const before = to === undefined ? undefined : LessThan(fromUnixSeconds(to + 1));
  return since !== undefined && before !== undefined ? And(since, before) : (since ?? before);
}
