import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { Retention } from '../database/retention.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

/** The number of keys that one statement reads. */
const PAGE_ROWS = 1_000;

/**
 * Deletes buckets of ended windows, never cumulative ones. A bucket with an open reservation stays until the call ends.
 */
const DELETE_BUCKETS = `
  DELETE FROM "usage_buckets" WHERE "id" IN (
    SELECT "id" FROM "usage_buckets" WHERE "resets_at" < $1 AND "reserved" = 0
    ORDER BY "resets_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/**
 * Removes the keys of delivered alerts whose bucket is deleted. A key prevents a second alert, which cannot be raised
 * without the bucket. An event without a key is deleted like others. Reads one page of keys after the last one,
 * released or not: cumulative counters keep theirs, in any number.
 */
const RELEASE_KEYS = `
  WITH page AS MATERIALIZED (
    SELECT "id", "dedupe_key", "dispatched_at", "payload" FROM "webhook_outbox"
    WHERE "dedupe_key" > $3 ORDER BY "dedupe_key" LIMIT $2
  ), released AS (
    UPDATE "webhook_outbox" SET "dedupe_key" = NULL WHERE "id" IN (
      SELECT "id" FROM page WHERE "dedupe_key" LIKE 'usage:%' AND "dispatched_at" < $1
        AND NOT EXISTS (SELECT 1 FROM "usage_buckets" WHERE "id" = (page."payload" -> 'bucket' ->> 'id')::uuid)
    )
  )
  SELECT "dedupe_key" AS "key" FROM page ORDER BY "dedupe_key" DESC LIMIT 1`;

/** Deletes the counters of windows that ended long ago. The ledger keeps what they counted. */
@Injectable()
export class UsageCounterRetention extends Retention {
  constructor(
    @Inject(DataSource) private readonly database: Pick<DataSource, 'query'>,
    { USAGE_COUNTER_DAYS: keptDays }: AppConfig,
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    super({ database, clock, logger, keptDays, failureEvent: 'usage_retention_failed' });
  }

  protected override async deleteBefore(time: Date): Promise<void> {
    await this.deleteInBatches(DELETE_BUCKETS, time);
    await this.releaseKeys(time);
  }

  private async releaseKeys(before: Date): Promise<void> {
    let last: string | undefined = '';
    while (last !== undefined && !this.isStopping) {
      const [row]: readonly { readonly key: string }[] = await this.database.query(RELEASE_KEYS, [
        before,
        PAGE_ROWS,
        last,
      ]);
      last = row?.key;
    }
  }
}
