import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { toList } from '../common/pagination/list.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import { WebhookListQuery } from './dto/webhook-list.query.js';
import {
  CreateWebhookEndpointDto,
  RotateWebhookSecretDto,
  UpdateWebhookEndpointDto,
} from './dto/webhook-endpoint.dto.js';
import {
  CreatedWebhookEndpointResponse,
  RotatedWebhookEndpointResponse,
  toWebhookEndpointResponse,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
} from './webhook.response.js';
import { WebhooksService } from './webhooks.service.js';

@ManagementApi('Webhooks')
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  /** Creates a webhook endpoint. Only this response shows its secret. */
  @Post()
  @RequireScope('webhooks.create')
  @IdempotentCreate()
  async createWebhook(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateWebhookEndpointDto,
  ): Promise<CreatedWebhookEndpointResponse> {
    const { endpoint, secret } = await this.webhooks.create(principal, dto);
    return { id: endpoint.id, object: 'webhook-endpoint', secret };
  }

  /** Lists the webhook endpoints of the caller's tenant, newest first. */
  @Get()
  @RequireScope('webhooks.list')
  async listWebhooks(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WebhookListQuery,
  ): Promise<WebhookEndpointListResponse> {
    return toList(await this.webhooks.list(principal, query), toWebhookEndpointResponse);
  }

  /** Retrieves a webhook endpoint, without its secret. */
  @Get(':id')
  @RequireScope('webhooks.read')
  async retrieveWebhook(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
  ): Promise<WebhookEndpointResponse> {
    return toWebhookEndpointResponse(await this.webhooks.get(principal, id));
  }

  /** Updates the named fields of a webhook endpoint. */
  @Patch(':id')
  @RequireScope('webhooks.update')
  async updateWebhook(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateWebhookEndpointDto,
  ): Promise<WebhookEndpointResponse> {
    return toWebhookEndpointResponse(await this.webhooks.update(principal, id, dto));
  }

  /** Updates the named fields of a webhook endpoint, like PATCH. */
  @Put(':id')
  @RequireScope('webhooks.update')
  async putWebhook(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateWebhookEndpointDto,
  ): Promise<WebhookEndpointResponse> {
    return this.updateWebhook(principal, id, dto);
  }

  /** Rotates the secret of a webhook endpoint. Events carry both signatures until the end of the transition period. */
  @Post(':id/rotate-secret')
  @HttpCode(200)
  @RequireScope('webhooks.update')
  async rotateWebhookSecret(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: RotateWebhookSecretDto,
  ): Promise<RotatedWebhookEndpointResponse> {
    const { endpoint, secret } = await this.webhooks.rotateSecret(principal, id, dto);
    const previous_valid_until = toUnixSeconds(endpoint.previousSecretValidUntil);
    return { id: endpoint.id, object: 'webhook-endpoint', secret, previous_valid_until };
  }

  /** Deletes a webhook endpoint and its deliveries. */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('webhooks.delete')
  async deleteWebhook(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.webhooks.delete(principal, id);
  }
}
