import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, IsNull, type Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { refWhere, tenantWhere } from '../access/tenant-where.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toSkipTake } from '../common/pagination/list.js';
import type { PageQuery } from '../common/pagination/page.query.js';
import { VirtualKey } from './virtual-key.entity.js';

/** Sealed columns are left out of queries unless they are named. */
const WITH_SECRETS = {
  id: true,
  organisationId: true,
  workspaceId: true,
  slug: true,
  name: true,
  description: true,
  provider: true,
  options: true,
  sealedKey: true,
  sealedOptions: true,
  expiresAt: true,
  createdAt: true,
  updatedAt: true,
} as const;

/** Reads virtual keys, always within a tenant. */
@Injectable()
export class VirtualKeyStore {
  constructor(@InjectRepository(VirtualKey) readonly rows: Repository<VirtualKey>) {}

  async list(principal: Principal, page: PageQuery): Promise<[VirtualKey[], number]> {
    return this.rows.findAndCount({
      select: WITH_SECRETS,
      where: tenantWhere(principal),
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(page),
    });
  }

  /**
   * One key that the caller manages.
   * @throws GatewayError `not_found`, or `conflict` when a slug names keys of several workspaces
   */
  async get(principal: Principal, ref: string): Promise<VirtualKey> {
    return findOnly(this.rows.manager, principal, ref);
  }

  /** The same in a transaction, until whose end nobody else changes the key. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<VirtualKey> {
    return findOnly(manager, principal, ref, { mode: 'pessimistic_write' });
  }

  /** The key that a request means: the caller's own workspace first, then the whole organisation's. */
  async findForUse({ organisationId, workspaceId }: Principal, slug: string): Promise<VirtualKey | undefined> {
    const where: FindOptionsWhere<VirtualKey>[] =
      workspaceId === null
        ? [{ organisationId, slug }]
        : [
            { organisationId, workspaceId, slug },
            { organisationId, workspaceId: IsNull(), slug },
          ];
    const found = await this.rows.find({ select: WITH_SECRETS, where });
    return workspaceId === null ? onlyOne(found) : (found.find((row) => row.workspaceId === workspaceId) ?? found[0]);
  }
}

async function findOnly(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<VirtualKey> {
  const where = { ...refWhere(ref), ...tenantWhere(principal) };
  const [row, another] = await manager.find(VirtualKey, { select: WITH_SECRETS, where, take: 2, lock });
  if (row === undefined) throw new GatewayError('not_found');
  if (another !== undefined) throw ambiguous();
  return row;
}

/** A caller of the whole organisation names a key without saying in which workspace; several of that name are no answer. */
function onlyOne(found: readonly VirtualKey[]): VirtualKey | undefined {
  const shared = found.find((row) => row.workspaceId === null);
  if (shared !== undefined || found.length < 2) return shared ?? found[0];
  throw ambiguous();
}

function ambiguous(): GatewayError {
  return new GatewayError('conflict', {
    message: 'Several workspaces have a virtual key with this slug; use a key of the workspace that is meant.',
  });
}
