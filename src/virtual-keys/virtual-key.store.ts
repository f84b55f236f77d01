import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, IsNull, type Repository } from 'typeorm';
import { onlyRow } from '../access/only-row.js';
import type { Principal } from '../access/principal.js';
import { refWhere, tenantWhere } from '../access/tenant-where.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toSkipTake } from '../common/pagination/list.js';
import type { PageQuery } from '../common/pagination/page.query.js';
import type { SecretMappingDto } from '../secret-references/dto/secret-mapping.dto.js';
import { SecretMappingsService, type SecretOwner } from '../secret-references/secret-mappings.service.js';
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
  secretMappings: true,
  expiresAt: true,
  createdAt: true,
  updatedAt: true,
} as const;

const AMBIGUOUS = 'Several workspaces have a virtual key with this slug; use a key of the workspace that is meant.';

/** Reads and writes virtual keys, always within a tenant. */
@Injectable()
export class VirtualKeyStore {
  constructor(
    @InjectRepository(VirtualKey) readonly rows: Repository<VirtualKey>,
    private readonly mappings: SecretMappingsService,
  ) {}

  /**
   * Writes a row, and the mappings when some are given; none are needed for what they are now.
   * @throws GatewayError `validation_failed` for secret references that the key may not use
   */
  async save(manager: EntityManager, row: VirtualKey, mappings?: readonly SecretMappingDto[]): Promise<VirtualKey> {
    const saved = await manager.save(row);
    if (mappings === undefined) return saved;
    return Object.assign(saved, { secretMappings: await this.mappings.replace(manager, ownerOf(saved), mappings) });
  }

  async remove(manager: EntityManager, row: VirtualKey): Promise<void> {
    await this.mappings.remove(manager, ownerOf(row));
    await manager.delete(VirtualKey, { id: row.id, organisationId: row.organisationId });
  }

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
    const { id } = await findOnly(manager, principal, ref, { mode: 'pessimistic_write' });
    // Read after the lock: of what another change had just written, that statement may have seen the row alone.
    return findOnly(manager, principal, id);
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

function ownerOf({ id, slug, organisationId, workspaceId }: VirtualKey): SecretOwner {
  return { type: 'virtual-key', id, slug, organisationId, workspaceId };
}

async function findOnly(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<VirtualKey> {
  const where = { ...refWhere(ref), ...tenantWhere(principal) };
  return onlyRow(await manager.find(VirtualKey, { select: WITH_SECRETS, where, take: 2, lock }), AMBIGUOUS);
}

/** A caller of the whole organisation names a key without saying in which workspace; several of that name are no answer. */
function onlyOne(found: readonly VirtualKey[]): VirtualKey | undefined {
  const shared = found.find((row) => row.workspaceId === null);
  if (shared !== undefined || found.length < 2) return shared ?? found[0];
  throw new GatewayError('conflict', { message: AMBIGUOUS });
}
