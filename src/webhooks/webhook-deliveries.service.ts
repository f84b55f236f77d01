import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, FindOptionsWhere, Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toSkipTake } from '../common/pagination/list.js';
import { Clock } from '../common/time/clock.js';
import { isUuid } from '../common/uuid.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, searched } from '../database/list-options.js';
import type { WebhookDeliveryQuery } from './dto/webhook-delivery.query.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { entryOf, WebhookEndpointStore } from './webhook-endpoint.store.js';
import { WebhookOutboxEvent } from './webhook-outbox-event.entity.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

const NEVER_TRIED = {
  claimId: null,
  lastAttemptAt: null,
  lastStatusCode: null,
  lastError: null,
  lastLatencyMs: null,
  completedAt: null,
} as const;

/** What administrators see of deliveries, and the ones that they ask for themselves. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly endpoints: WebhookEndpointStore,
    private readonly dispatcher: WebhookDispatcher,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  async list(principal: Principal, id: string, query: WebhookDeliveryQuery): Promise<[WebhookDelivery[], number]> {
    const { id: endpointId, organisationId } = await this.endpoints.get(principal, id);
    const { status, event: eventType, search } = query;
    return this.deliveries.findAndCount({
      where: both([{ endpointId, organisationId, ...withoutUndefined({ status, eventType }) }], matching(search)),
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(query),
    });
  }

  /** @throws GatewayError `conflict` for an endpoint that is disabled */
  async test(principal: Principal, id: string): Promise<WebhookDelivery> {
    const delivery = await this.deliveries.manager.transaction(async (manager) => {
      const endpoint = await this.endpoints.hold(manager, principal, id);
      assertEnabled(endpoint);
      const added = await addTestDelivery(manager, endpoint, this.clock.now());
      await this.audit.record(manager, principal, entryOf('test', endpoint, [fieldOf(added)]));
      return added;
    });
    this.dispatcher.wake();
    return delivery;
  }

  /**
   * Sends a delivery at once: a completed one from the beginning, one that waits ahead of its time.
   * @throws GatewayError `conflict` for an endpoint that is disabled
   */
  async redeliver(principal: Principal, id: string, deliveryId: string): Promise<WebhookDelivery> {
    const delivery = await this.deliveries.manager.transaction(async (manager) => {
      const endpoint = await this.endpoints.hold(manager, principal, id);
      const row = await findForChange(manager, endpoint, deliveryId);
      assertEnabled(endpoint);
      await this.audit.record(manager, principal, entryOf('redeliver', endpoint, [fieldOf(row)]));
      return manager.save(Object.assign(row, dueAgain(row, this.clock.now())));
    });
    this.dispatcher.wake();
    return delivery;
  }
}

/** The receiver knows a delivery by the id of its event, which is the header `webhook-id`. */
function matching(search: string | undefined): readonly FindOptionsWhere<WebhookDelivery>[] {
  if (search !== undefined && isUuid(search)) return [{ outboxId: search }, { id: search }];
  return searched(search, ['eventType', 'lastError']);
}

async function addTestDelivery(manager: EntityManager, endpoint: WebhookEndpoint, now: Date): Promise<WebhookDelivery> {
  const { id: endpointId, organisationId, workspaceId } = endpoint;
  const event = await manager.save(
    manager.create(WebhookOutboxEvent, {
      organisationId,
      workspaceId,
      type: 'webhook.test',
      payload: { webhook_endpoint_id: endpointId },
      // For this endpoint alone: it must not be handed to all that subscribed.
      dispatchedAt: now,
    }),
  );
  return manager.save(
    manager.create(WebhookDelivery, {
      organisationId,
      endpointId,
      outboxId: event.id,
      eventType: event.type,
      nextAttemptAt: now,
      ...NEVER_TRIED,
    }),
  );
}

async function findForChange(manager: EntityManager, endpoint: WebhookEndpoint, id: string): Promise<WebhookDelivery> {
  const lock = { mode: 'pessimistic_write' } as const;
  const where = { id, endpointId: endpoint.id, organisationId: endpoint.organisationId };
  const row = isUuid(id) ? await manager.findOne(WebhookDelivery, { where, lock }) : null;
  if (row === null) throw new GatewayError('not_found');
  return row;
}

function dueAgain(row: WebhookDelivery, now: Date): Partial<WebhookDelivery> {
  // One that is being sent is what was asked for; sending it twice at a time is not.
  if (row.status === 'pending' && row.claimId !== null) return { attempts: 0 };
  return { status: 'pending', attempts: 0, nextAttemptAt: now, completedAt: null };
}

/** Deliveries have no entries of their own: they are in those of their endpoint. */
function fieldOf({ id }: WebhookDelivery): string {
  return `deliveries.${id}`;
}

function assertEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.disabledAt === null) return;
  throw new GatewayError('conflict', { message: 'The endpoint is disabled; enable it first.' });
}
