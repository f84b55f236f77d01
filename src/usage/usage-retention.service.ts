import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';

const INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Keys that a statement looks at. */
const PAGE_ROWS = 1_000;

/** Only of windows that are over, so never those that add up for ever; one that a call still holds waits for its end. */
const DELETE_BUCKETS = `
  DELETE FROM "usage_buckets" WHERE "id" IN (
    SELECT "id" FROM "usage_buckets" WHERE "resets_at" < $1 AND "reserved" = 0
    ORDER BY "resets_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/**
 * The key of an alert keeps it from being raised twice. Without its bucket none is ever raised again; without its key the
 * event is deleted like others, once it has been delivered. Looks at so many keys after the last one that was looked at,
 * whether they are released or not: counters that add up for ever keep theirs, however many those become.
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
export class UsageRetentionService implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    @Inject(DataSource) private readonly dataSource: Pick<DataSource, 'query'>,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), INTERVAL_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    this.isStopping = true;
    await this.running;
  }

  /** Never rejects: the next round tries again. */
  sweep(): Promise<void> {
    this.running ??= this.run().finally(() => (this.running = undefined));
    return this.running;
  }

  private async run(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - this.config.USAGE_COUNTER_DAYS * DAY_MS);
    try {
      await deleteInBatches(this.dataSource, DELETE_BUCKETS, before, () => this.isStopping);
      await this.releaseKeys(before);
    } catch (cause) {
      this.logger.warn({ event: 'usage_retention_failed', err: cause });
    }
  }

  private async releaseKeys(before: Date): Promise<void> {
    let last: string | undefined = '';
    while (last !== undefined && !this.isStopping) {
      const [row]: readonly { readonly key: string }[] = await this.dataSource.query(RELEASE_KEYS, [
        before,
        PAGE_ROWS,
        last,
      ]);
      last = row?.key;
    }
  }
}
