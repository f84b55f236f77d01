import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Retention } from '../database/retention.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { NOTICE } from './webhook-events.js';

const KEPT_DAYS = 30;

const DELETE_SUCCEEDED = `
  DELETE FROM "webhook_deliveries" WHERE "id" IN (
    SELECT "id" FROM "webhook_deliveries" WHERE "status" = 'succeeded' AND "completed_at" < $1
    LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/**
 * Other events with a key stay, since the key is what keeps an event from being sent twice; its sender removes it. The time
 * of a notice is in its key.
 */
const DELETE_EVENTS = `
  DELETE FROM "webhook_outbox" WHERE "id" IN (
    SELECT "id" FROM "webhook_outbox" AS event
    WHERE "dispatched_at" < $1 AND ("dedupe_key" IS NULL OR "dedupe_key" LIKE '${NOTICE}%')
      AND NOT EXISTS (SELECT 1 FROM "webhook_deliveries" WHERE "outbox_id" = event."id")
    LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes what arrived a month ago. What failed stays, so that it can be sent again. */
@Injectable()
export class WebhookRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: KEPT_DAYS, failureEvent: 'webhook_retention_failed' });
  }

  protected override async deleteBefore(time: Date): Promise<void> {
    for (const statement of [DELETE_SUCCEEDED, DELETE_EVENTS]) await this.deleteInBatches(statement, time);
  }
}
