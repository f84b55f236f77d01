import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Retention } from '../database/retention.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

const KEPT_DAYS = 1;

const DELETE_KEYS = `
  DELETE FROM "idempotency_keys" WHERE "id" IN (
    SELECT "id" FROM "idempotency_keys" WHERE "created_at" < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Forgets keys after a day. */
@Injectable()
export class IdempotencyRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: KEPT_DAYS, failureEvent: 'idempotency_retention_failed' });
  }

  protected override deleteBefore(time: Date): Promise<void> {
    return this.deleteInBatches(DELETE_KEYS, time);
  }
}
