import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { WakeableLoop } from '../../common/time/wakeable-loop.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';

const INTERVAL_MS = 3_600_000;
const KEPT_MS = 90 * 86_400_000;

/** The oldest first, along `ix_mcp_calls_created_at`, and past the rows that another replica deletes at the moment. */
const DELETE_CALLS = `
  DELETE FROM "mcp_calls" WHERE "id" IN (
    SELECT "id" FROM "mcp_calls" WHERE "created_at" < $1
    ORDER BY "created_at" LIMIT $2 FOR UPDATE SKIP LOCKED
  )`;

/** Deletes the rows of calls after 90 days, whether calls come or not, and keeps none from being written. */
@Injectable()
export class McpCallRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.sweep(), INTERVAL_MS);

  constructor(
    @Inject(DataSource) private readonly dataSource: Pick<DataSource, 'query'>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Never rejects: what was deleted stays so, and the next turn goes on from there. */
  async sweep(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_MS);
    try {
      await deleteInBatches(this.dataSource, DELETE_CALLS, before, () => this.loop.isStopped);
    } catch (cause) {
      this.logger.warn({ event: 'mcp_call_retention_failed', err: cause });
    }
  }
}
