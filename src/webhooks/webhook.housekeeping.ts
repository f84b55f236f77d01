import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';

const INTERVAL_MS = 3_600_000;
const KEPT_MS = 30 * 86_400_000;

const DELETE_SUCCEEDED = `
  DELETE FROM "webhook_deliveries" WHERE "id" IN (
    SELECT "id" FROM "webhook_deliveries" WHERE "status" = 'succeeded' AND "completed_at" < $1
    LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Events with a key stay, since the key is what keeps an event from being sent twice; whoever gave it takes it away. */
const DELETE_EVENTS = `
  DELETE FROM "webhook_outbox" WHERE "id" IN (
    SELECT "id" FROM "webhook_outbox" AS event
    WHERE "dispatched_at" < $1 AND "dedupe_key" IS NULL
      AND NOT EXISTS (SELECT 1 FROM "webhook_deliveries" WHERE "outbox_id" = event."id")
    LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes what arrived a month ago. What failed stays, so that it can be sent again. */
@Injectable()
export class WebhookHousekeeping implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.sweepAndReport(), INTERVAL_MS);

  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Pick<Repository<WebhookDelivery>, 'query'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  async sweep(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_MS);
    for (const statement of [DELETE_SUCCEEDED, DELETE_EVENTS]) {
      await deleteInBatches(this.deliveries, statement, before, () => this.loop.isStopped);
    }
  }

  private async sweepAndReport(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.logger.warn({ event: 'webhook_housekeeping_failed', error: error instanceof Error ? error.message : '' });
    }
  }
}
