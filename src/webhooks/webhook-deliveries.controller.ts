import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { toList } from '../common/pagination/list.js';
import { NoFieldsDto } from '../common/validation/no-fields.dto.js';
import { WebhookDeliveryQuery } from './dto/webhook-delivery.query.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { toWebhookDeliveryResponse, WebhookDeliveryListResponse, WebhookDeliveryResponse } from './webhook.response.js';

@ManagementApi('Webhooks')
@Controller('v1/webhooks/:id')
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveriesService) {}

  /** Sends a `webhook.test` event to the endpoint, whatever events it subscribes to. */
  @Post('test')
  @HttpCode(202)
  @RequireScope('webhooks.update')
  @MayFail('conflict')
  async testWebhook(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() _none: NoFieldsDto,
  ): Promise<WebhookDeliveryResponse> {
    return toWebhookDeliveryResponse(await this.deliveries.test(principal, id));
  }

  /** Lists the deliveries of a webhook endpoint, newest first. */
  @Get('deliveries')
  @RequireScope('webhooks.read')
  async listWebhookDeliveries(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: WebhookDeliveryQuery,
  ): Promise<WebhookDeliveryListResponse> {
    return toList(await this.deliveries.list(principal, id, query), toWebhookDeliveryResponse);
  }

  /** Sends a delivery again, whatever its status. */
  @Post('deliveries/:delivery_id/redeliver')
  @HttpCode(202)
  @RequireScope('webhooks.update')
  @MayFail('conflict')
  async redeliverWebhook(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('delivery_id') deliveryId: string,
    @Body() _none: NoFieldsDto,
  ): Promise<WebhookDeliveryResponse> {
    return toWebhookDeliveryResponse(await this.deliveries.redeliver(principal, id, deliveryId));
  }
}
