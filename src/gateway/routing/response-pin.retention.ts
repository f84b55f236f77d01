import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { Retention } from '../../database/retention.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';

/** Providers keep responses for 30 days. Source: https://platform.openai.com/docs/guides/your-data, read 2026-11-28. */
const KEPT_DAYS = 31;
/** Oldest first, by `ix_response_pins_created_at`. Skips rows that another replica is deleting. */
const DELETE_PINS = `
  DELETE FROM "response_pins" WHERE ("organisation_id", "response_id") IN (
    SELECT "organisation_id", "response_id" FROM "response_pins" WHERE "created_at" < $1
    ORDER BY "created_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes pins of responses that their providers no longer keep. */
@Injectable()
export class ResponsePinRetention extends Retention {
  constructor(
    @Inject(DataSource) database: Pick<DataSource, 'query'>,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays: KEPT_DAYS, failureEvent: 'response_pin_retention_failed' });
  }

  protected override deleteBefore(time: Date): Promise<void> {
    return this.deleteInBatches(DELETE_PINS, time);
  }
}
