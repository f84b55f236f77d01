import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { WakeableLoop } from './wakeable-loop.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';

const INTERVAL_MS = 3_600_000;
const KEPT_MS = 30 * 86_400_000;
/** Small enough for the time limit of a statement. */
const BATCH_ROWS = 1_000;

const DELETE_SUCCEEDED = `
  DELETE FROM "webhook_deliveries" WHERE "id" IN (
    SELECT "id" FROM "webhook_deliveries" WHERE "status" = 'succeeded' AND "completed_at" < $1 LIMIT $2
  )`;

/** Events with a key stay, since the key is what keeps an event from being sent twice; whoever gave it takes it away. */
const DELETE_EVENTS = `
  DELETE FROM "webhook_outbox" WHERE "id" IN (
    SELECT "id" FROM "webhook_outbox" AS event
    WHERE "dispatched_at" < $1 AND "dedupe_key" IS NULL
      AND NOT EXISTS (SELECT 1 FROM "webhook_deliveries" WHERE "outbox_id" = event."id")
    LIMIT $2
  )`;

/** Deletes what arrived a month ago. What failed stays, so that it can be sent again. */
@Injectable()
export class WebhookHousekeeping implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.sweepAndReport(), INTERVAL_MS);
  private isStopping = false;

  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Pick<Repository<WebhookDelivery>, 'query'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.loop.stop();
  }

  async sweep(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_MS);
    for (const statement of [DELETE_SUCCEEDED, DELETE_EVENTS]) {
      let deleted = BATCH_ROWS;
      // What is left has time until the next start; calls under way have not.
      while (deleted === BATCH_ROWS && !this.isStopping) {
        const [, affected]: readonly [unknown, number] = await this.deliveries.query(statement, [before, BATCH_ROWS]);
        deleted = affected;
      }
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
