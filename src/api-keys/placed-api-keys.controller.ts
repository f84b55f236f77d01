import { Body, Controller, Post } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import type { CreatedApiKeyResponse } from './api-key.response.js';
import { ApiKeysService } from './api-keys.service.js';
import { CreatePlacedApiKeyDto } from './dto/placed-api-key.dto.js';

type Place = Parameters<ApiKeysService['createPlaced']>[1];

/** The addresses at which clients of Portkey create keys: the level and the type are in the path. */
@ApiExcludeController()
@Controller('v1/api-keys')
export class PlacedApiKeysController {
  constructor(private readonly apiKeys: ApiKeysService) {}

  @Post('workspace/service')
  @RequireScope('api_keys.create')
  @IdempotentCreate()
  createWorkspaceServiceKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreatePlacedApiKeyDto,
  ): Promise<CreatedApiKeyResponse> {
    return this.create(principal, { level: 'workspace', type: 'service' }, dto);
  }

  @Post('workspace/user')
  @RequireScope('api_keys.create')
  @IdempotentCreate()
  createWorkspaceUserKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreatePlacedApiKeyDto,
  ): Promise<CreatedApiKeyResponse> {
    return this.create(principal, { level: 'workspace', type: 'user' }, dto);
  }

  @Post('organisation/service')
  @RequireScope('api_keys.create')
  @IdempotentCreate()
  createOrganisationServiceKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreatePlacedApiKeyDto,
  ): Promise<CreatedApiKeyResponse> {
    return this.create(principal, { level: 'organisation', type: 'service' }, dto);
  }

  @Post('organisation/user')
  @RequireScope('api_keys.create')
  @IdempotentCreate()
  createOrganisationUserKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreatePlacedApiKeyDto,
  ): Promise<CreatedApiKeyResponse> {
    return this.create(principal, { level: 'organisation', type: 'user' }, dto);
  }

  private async create(principal: Principal, place: Place, dto: CreatePlacedApiKeyDto): Promise<CreatedApiKeyResponse> {
    const { apiKey, key } = await this.apiKeys.createPlaced(principal, place, dto);
    return { id: apiKey.id, object: 'api-key', key };
  }
}
