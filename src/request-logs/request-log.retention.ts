import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { Retention } from '../database/retention.js';
import { LoggedBodies } from './logged-bodies.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

/** Oldest first, by `ix_request_logs_created_at`. Skips rows that another replica is deleting. */
const DELETE_LOGS = `
  DELETE FROM "request_logs" WHERE "id" IN (
    SELECT "id" FROM "request_logs" WHERE "created_at" < $1
    ORDER BY "created_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes rows of the log of calls after REQUEST_LOG_DAYS, all of them with 0, and bodies after the days of their workspace. */
@Injectable()
export class RequestLogRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    private readonly bodies: LoggedBodies,
    config: AppConfig,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: config.REQUEST_LOG_DAYS, failureEvent: 'request_log_retention_failed' });
  }

  protected override async deleteBefore(time: Date): Promise<void> {
    try {
      await this.deleteInBatches(DELETE_LOGS, time);
    } finally {
      await this.bodies.deleteExpired(() => this.isStopping);
    }
  }
}
