import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { guardedHttp } from '../upstream/egress/guarded-http.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ExpiryNotices } from './expiry-notices.js';
import { WebhookEvents } from './webhook-events.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookDeliveryQueue } from './webhook-delivery.queue.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointStore } from './webhook-endpoint.store.js';
import { WebhookOutboxEvent } from './webhook-outbox-event.entity.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';
import { WebhookRetention } from './webhook.retention.js';
import { WEBHOOK_LIMITS, WebhookSender } from './webhook.sender.js';
import { WebhookEncryptor } from './webhook.encryption.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([WebhookEndpoint, WebhookOutboxEvent, WebhookDelivery]),
    HttpModule.registerAsync({
      imports: [UpstreamModule],
      inject: [UpstreamClient],
      // Its pools keep connections. The schedule of a delivery decides on retries, over days and replicas.
      useFactory: (client: UpstreamClient) => {
        return guardedHttp((call) => client.send({ ...call, retry: 'never' }), WEBHOOK_LIMITS);
      },
    }),
    AuditModule,
    UpstreamModule,
    WorkspacesModule,
  ],
  controllers: [WebhooksController, WebhookDeliveriesController],
  exports: [WebhookEvents],
  providers: [
    ExpiryNotices,
    WebhookEvents,
    WebhookDeliveriesService,
    WebhookDeliveryQueue,
    WebhookDispatcher,
    WebhookEndpointStore,
    WebhookRetention,
    WebhookSender,
    WebhookEncryptor,
    WebhooksService,
  ],
})
export class WebhooksModule {}
