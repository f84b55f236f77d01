import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { ownOrSharedWhere } from '../access/tenant-where.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { allColumns } from '../database/rows.js';
import { MappedResourceStore } from '../secret-references/mapped-resource/mapped-resource.store.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { destinationOf } from './provider-fields.js';
import { VirtualKey } from './virtual-key.entity.js';

const AMBIGUOUS = 'Several workspaces have a virtual key with this slug; use a key of the workspace that is meant.';

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
  async findForUse(principal: Principal, slug: string): Promise<VirtualKey | undefined> {
    const { workspaceId } = principal;
    const where = ownOrSharedWhere(principal).map((owner) => ({ ...owner, slug }));
    const found = await this.rows.find({ select: allColumns(this.rows.metadata), where });
    return workspaceId === null ? onlyOne(found) : (found.find((row) => row.workspaceId === workspaceId) ?? found[0]);
  }
}

/** A caller of the whole organisation does not say which workspace it means, so two keys of that slug are a conflict. */
function onlyOne(found: readonly VirtualKey[]): VirtualKey | undefined {
  const shared = found.find((row) => row.workspaceId === null);
  if (shared !== undefined || found.length < 2) return shared ?? found[0];
  throw new GatewayError('conflict', { message: AMBIGUOUS });
}
