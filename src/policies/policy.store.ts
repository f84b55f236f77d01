import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, FindOptionsWhere, Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { meantRow, refWhere, tenantWhere } from '../access/tenant-where.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, pageAndOrder, searched } from '../database/list-options.js';
import type { UsageLimitListQuery } from './dto/usage-limit-list.query.js';
import { UsagePolicy } from './usage-policy.entity.js';

const SHARED_FIRST = { workspaceId: { direction: 'ASC', nulls: 'FIRST' } } as const;
const AMBIGUOUS = 'Several usage limits have this slug; name the one that is meant by its id.';

/** Reads policies, always within a tenant. */
@Injectable()
export class PolicyStore {
  constructor(@InjectRepository(UsagePolicy) readonly rows: Repository<UsagePolicy>) {}

  /** `workspaceId` limits the list to one workspace that the caller can see. */
  async list(
    principal: Principal,
    query: UsageLimitListQuery,
    workspaceId: string | undefined,
  ): Promise<[UsagePolicy[], number]> {
    const { status, type, enforcement, search } = query;
    const filter: FindOptionsWhere<UsagePolicy> = withoutUndefined({ status, type, enforcement, workspaceId });
    const where = both([{ ...filter, ...tenantWhere(principal) }], searched(search, ['name', 'slug', 'description']));
    return this.rows.findAndCount({ where, ...pageAndOrder(query) });
  }

  /** @throws GatewayError `not_found`, or `conflict` when a slug names policies of several workspaces */
  async get(principal: Principal, ref: string): Promise<UsagePolicy> {
    return findOne(this.rows.manager, principal, ref);
  }

  /** Like `get`, and locks the policy until the end of the transaction. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<UsagePolicy> {
    return findOne(manager, principal, ref, { mode: 'pessimistic_write' });
  }

  /** The active policies of an organisation. */
  async active(organisationId: string): Promise<UsagePolicy[]> {
    return this.rows.find({ where: { organisationId, status: 'active' }, order: { createdAt: 'ASC', id: 'ASC' } });
  }
}

async function findOne(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<UsagePolicy> {
  const by = refWhere(ref);
  // An archived policy has given its slug away.
  const named = 'slug' in by ? { ...by, status: 'active' as const } : by;
  const where = { ...named, ...tenantWhere(principal) };
  const rows = await manager.find(UsagePolicy, { where, order: SHARED_FIRST, take: 2, lock });
  return meantRow(rows, AMBIGUOUS);
}
