import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { tenantWhere } from '../access/tenant-where.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toSkipTake } from '../common/pagination/list.js';
import { isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import type { UsageLimitListQuery } from './dto/usage-limit-list.query.js';
import { UsagePolicy } from './usage-policy.entity.js';

/** Reads policies, always within a tenant. */
@Injectable()
export class PolicyStore {
  constructor(@InjectRepository(UsagePolicy) readonly rows: Repository<UsagePolicy>) {}

  /** `workspaceId` limits the list to one workspace that the caller can see. */
  async list(
    principal: Principal,
    { status, type, ...page }: UsageLimitListQuery,
    workspaceId: string | undefined,
  ): Promise<[UsagePolicy[], number]> {
    return this.rows.findAndCount({
      where: { ...withoutUndefined({ status, type, workspaceId }), ...tenantWhere(principal) },
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(page),
    });
  }

  /** @throws GatewayError `not_found` */
  async get(principal: Principal, id: string): Promise<UsagePolicy> {
    return findOne(this.rows.manager, principal, id);
  }

  /** Like `find`, and locks the policy until the end of the transaction. */
  async getForChange(manager: EntityManager, principal: Principal, id: string): Promise<UsagePolicy> {
    return findOne(manager, principal, id, { mode: 'pessimistic_write' });
  }

  /** The active policies of an organisation. */
  async active(organisationId: string): Promise<UsagePolicy[]> {
    return this.rows.find({ where: { organisationId, status: 'active' }, order: { createdAt: 'ASC', id: 'ASC' } });
  }
}

async function findOne(
  manager: EntityManager,
  principal: Principal,
  id: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<UsagePolicy> {
  const row = isUuid(id)
    ? await manager.findOne(UsagePolicy, { where: { id, ...tenantWhere(principal) }, lock })
    : null;
  if (row === null) throw new GatewayError('not_found');
  return row;
}
