import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import type { SimulateUsageDto } from './dto/simulate-usage.dto.js';

/**
 * The keys that a caller may simulate calls with. By trying estimates out, a caller of one workspace could find out how much
 * the keys of others have used.
 */
@Injectable()
export class NameableKeys {
  constructor(
    private readonly apiKeys: ApiKeysService,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
  ) {}

  /** @throws GatewayError `not_found` */
  async assertAll(principal: Principal, dto: Pick<SimulateUsageDto, 'api_key' | 'virtual_key'>): Promise<void> {
    const { organisationId, workspaceId } = principal;
    const { api_key: apiKey, virtual_key: slug } = dto;
    if (workspaceId === null) return;
    if (apiKey !== undefined && apiKey !== principal.id) await this.apiKeys.get(principal, apiKey);
    if (slug === undefined) return;
    const where = [
      { organisationId, workspaceId, slug },
      { organisationId, workspaceId: IsNull(), slug },
    ];
    if (!(await this.virtualKeys.exists({ where }))) throw new GatewayError('not_found');
  }
}
