import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { toList } from '../common/pagination/list.js';
import { Clock } from '../common/time/clock.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import {
  ApiKeyListResponse,
  ApiKeyResponse,
  CreatedApiKeyResponse,
  RotatedApiKeyResponse,
  toApiKeyResponse,
} from './api-key.response.js';
import { ApiKeysService } from './api-keys.service.js';
import { ApiKeyListQuery } from './dto/api-key-list.query.js';
import { CreateApiKeyDto, RotateApiKeyDto, UpdateApiKeyDto } from './dto/api-key.dto.js';

@ManagementApi('API keys')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly clock: Clock,
  ) {}

  /** Creates an API key. Only this response shows the key. */
  @Post()
  @RequireScope('api_keys.create')
  @IdempotentCreate()
  async createApiKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateApiKeyDto,
  ): Promise<CreatedApiKeyResponse> {
    const { apiKey, key } = await this.apiKeys.create(principal, dto);
    return { id: apiKey.id, object: 'api-key', key };
  }

  /** Lists the API keys of the caller's tenant, newest first. */
  @Get()
  @RequireScope('api_keys.list')
  async listApiKeys(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ApiKeyListQuery,
  ): Promise<ApiKeyListResponse> {
    return toList(await this.apiKeys.list(principal, query), (key) => toApiKeyResponse(key, this.clock.now()));
  }

  /** Retrieves an API key, without its secret. */
  @Get(':id')
  @RequireScope('api_keys.read')
  async retrieveApiKey(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ApiKeyResponse> {
    return toApiKeyResponse(await this.apiKeys.get(principal, id), this.clock.now());
  }

  /** Updates the named fields of an API key. */
  @Patch(':id')
  @RequireScope('api_keys.update')
  @MayFail('conflict')
  async updateApiKey(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateApiKeyDto,
  ): Promise<ApiKeyResponse> {
    return toApiKeyResponse(await this.apiKeys.update(principal, id, dto), this.clock.now());
  }

  /** Updates the named fields of an API key, like PATCH. */
  @Put(':id')
  @RequireScope('api_keys.update')
  @MayFail('conflict')
  async putApiKey(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateApiKeyDto,
  ): Promise<ApiKeyResponse> {
    return this.updateApiKey(principal, id, dto);
  }

  /** Rotates an API key. The previous secret works until the end of the transition period. */
  @Post(':id/rotate')
  @HttpCode(200)
  @RequireScope('api_keys.update')
  @MayFail('conflict')
  async rotateApiKey(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: RotateApiKeyDto,
  ): Promise<RotatedApiKeyResponse> {
    const { apiKey, key, previousValidUntil } = await this.apiKeys.rotate(principal, id, dto);
    return { id: apiKey.id, object: 'api-key', key, previous_valid_until: toUnixSeconds(previousValidUntil) };
  }

  /** Revokes an API key. The last key of the organisation with all scopes stays. */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('api_keys.delete')
  @MayFail('conflict')
  async deleteApiKey(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.apiKeys.delete(principal, id);
  }
}
