import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { Retention } from '../../database/retention.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';

const KEPT_DAYS = 90;

/** Oldest first, by `ix_mcp_calls_created_at`. Skips rows that another replica is deleting. */
const DELETE_CALLS = `
  DELETE FROM "mcp_calls" WHERE "id" IN (
    SELECT "id" FROM "mcp_calls" WHERE "created_at" < $1
    ORDER BY "created_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes the rows of calls after 90 days. Runs on a timer and does not block new rows. */
@Injectable()
export class McpCallRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: KEPT_DAYS, failureEvent: 'mcp_call_retention_failed' });
  }

  protected override deleteBefore(time: Date): Promise<void> {
    return this.deleteInBatches(DELETE_CALLS, time);
  }
}
