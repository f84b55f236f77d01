import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { Retention } from '../../database/retention.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';

const KEPT_DAYS = 0;

const DELETE_SESSIONS = `
  DELETE FROM "sessions" WHERE "id" IN (
    SELECT "id" FROM "sessions" WHERE "expires_at" < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes sessions that have expired. */
@Injectable()
export class SessionRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: KEPT_DAYS, failureEvent: 'session_retention_failed' });
  }

  protected override deleteBefore(time: Date): Promise<void> {
    return this.deleteInBatches(DELETE_SESSIONS, time);
  }
}
