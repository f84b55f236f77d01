import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { ownOrSharedWhere } from '../access/tenant-where.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import type { PolicyAttributes } from './policy-keys.js';

/**
 * The keys that a caller may simulate calls with. Otherwise, a caller of one workspace could find out by simulations
 * how much the keys of others have used.
 */
@Injectable()
export class NameableKeys {
  constructor(
    private readonly apiKeys: ApiKeysService,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
  ) {}

  /**
   * The enforced metadata of an API key. Callers of the whole organisation may name an unknown key, which enforces
   * nothing.
   * @throws GatewayError `not_found`
   */
  async enforcedMetadata(principal: Principal, apiKey: string | undefined): Promise<PolicyAttributes['metadata']> {
    if (apiKey === undefined) return {};
    if (apiKey === principal.id) return principal.enforcedMetadata;
    const enforced = await this.apiKeys.enforcedMetadata(principal, apiKey);
    if (enforced === undefined && principal.workspaceId !== null) throw new GatewayError('not_found');
    return enforced ?? {};
  }

  /**
   * The providers of virtual keys with this slug; undefined: unknown.
   * @throws GatewayError `not_found`
   */
  async providersOf(principal: Principal, slug: string | undefined): Promise<readonly string[] | undefined> {
    if (slug === undefined) return undefined;
    const where = ownOrSharedWhere(principal).map((owner) => ({ ...owner, slug }));
    const rows = await this.virtualKeys.find({ select: { id: true, provider: true }, where });
    if (rows.length > 0) return rows.map(({ provider }) => provider);
    if (principal.workspaceId !== null) throw new GatewayError('not_found');
    return undefined;
  }
}
