import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, IsNull, MoreThan, type Repository } from 'typeorm';
import type { Principal, Tenant } from '../access/principal.js';
import { ownOrSharedWhere } from '../access/tenant-where.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { SLUG_PATTERN } from '../common/slug.js';
import { foldId, isUuid } from '../common/uuid.js';
import { allColumns } from '../database/rows.js';
import { MappedResourceStore } from '../secret-references/mapped-resource/mapped-resource.store.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { destinationOf } from './provider-fields.js';
import { VirtualKey } from './virtual-key.entity.js';

const AMBIGUOUS = 'Several workspaces have a virtual key with this slug; use a key of the workspace that is meant.';

/** How a call names its virtual key, or how its API key does. */
export type VirtualKeyName = { readonly slug: string } | { readonly id: string };

/** Reads and writes virtual keys, always within a tenant. */
@Injectable()
export class VirtualKeyStore extends MappedResourceStore<VirtualKey> {
  constructor(
    @InjectRepository(VirtualKey) private readonly rows: Repository<VirtualKey>,
    audit: AuditService,
    providers: ProviderRegistry,
  ) {
    super(rows.manager, audit, {
      type: 'virtual-key',
      area: 'virtual_keys',
      rowsOf: (manager) => manager.getRepository(VirtualKey),
      destinationOf: ({ provider, options }, mapped) => destinationOf(providers.find(provider), options, mapped),
      ambiguous: 'Several virtual keys have this slug; name the one that is meant by its id.',
    });
  }

  /** The key that a request means: the caller's own workspace first, then the whole organisation's. */
  async findForUse(principal: Principal, name: VirtualKeyName): Promise<VirtualKey | undefined> {
    const { workspaceId } = principal;
    const where = ownOrSharedWhere(principal).map((owner) => ({ ...owner, ...name }));
    const found = await this.rows.find({ select: allColumns(this.rows.metadata), where });
    return workspaceId === null ? onlyOne(found) : ownOrShared(found, workspaceId);
  }

  /**
   * The virtual keys that the calls of a tenant can use, by the ids and slugs that name one of them. They cannot be deleted until
   * the transaction ends.
   */
  async namesForUse(
    manager: EntityManager,
    tenant: Tenant,
    refs: readonly string[],
  ): Promise<ReadonlyMap<string, Pick<VirtualKey, 'id' | 'slug' | 'provider'>>> {
    if (refs.length === 0) return new Map();
    const names = [{ id: In(refs.filter(isUuid)) }, { slug: In(refs.filter((ref) => SLUG_PATTERN.test(ref))) }];
    const where = ownOrSharedWhere(tenant).flatMap((owner) => names.map((name) => ({ ...owner, ...name })));
    const select = { id: true, slug: true, provider: true, workspaceId: true } as const;
    const found = await manager.find(VirtualKey, { select, where, lock: { mode: 'for_key_share' } });
    return new Map(
      refs.flatMap((ref) => {
        const rows = found.filter(({ id, slug }) => (isUuid(ref) ? id === foldId(ref) : slug === ref));
        const { workspaceId } = tenant;
        const shared = rows.find((row) => row.workspaceId === null);
        const meant =
          workspaceId === null ? (shared ?? (rows.length === 1 ? rows[0] : undefined)) : ownOrShared(rows, workspaceId);
        return meant === undefined ? [] : [[ref, meant] as const];
      }),
    );
  }

  /** The ids of the virtual keys that the references mean. */
  async idsForUse(
    manager: EntityManager,
    tenant: Tenant,
    refs: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const named = await this.namesForUse(manager, tenant, refs);
    return new Map([...named].map(([ref, { id }]) => [ref, id]));
  }

  /**
   * Virtual keys that a caller can use, by slug.
   * @param ids undefined for all
   */
  async listForUse(
    tenant: Tenant,
    ids: readonly string[] | undefined,
    now: Date,
    most: number,
  ): Promise<readonly Pick<VirtualKey, 'id' | 'slug' | 'provider'>[]> {
    const ends = [{ expiresAt: IsNull() }, { expiresAt: MoreThan(now) }];
    const among = ids === undefined ? {} : { id: In(ids) };
    const where = ownOrSharedWhere(tenant).flatMap((owner) => ends.map((end) => ({ ...owner, ...among, ...end })));
    const select = { id: true, slug: true, provider: true } as const;
    return this.rows.find({ select, where, order: { slug: 'ASC' }, take: most });
  }
}

function ownOrShared(found: readonly VirtualKey[], workspaceId: string): VirtualKey | undefined {
  return found.find((row) => row.workspaceId === workspaceId) ?? found[0];
}

/** A caller of the whole organisation does not say which workspace it means, so two keys of that slug are a conflict. */
function onlyOne(found: readonly VirtualKey[]): VirtualKey | undefined {
  const shared = found.find((row) => row.workspaceId === null);
  if (shared !== undefined || found.length < 2) return shared ?? found[0];
  throw new GatewayError('conflict', { message: AMBIGUOUS });
}
