import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { withTimeout } from '../common/time/timeout.js';
import { AppConfig } from '../config/environment.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { unavailableReason } from '../database/database-errors.js';
import { StoreFailures } from '../telemetry/store-failures.js';
import { RedisConnection } from '../redis/redis-connection.js';

/** Fails on a standby, with the code of a write there: nothing is written, and no table is locked. */
const ASSERT_WRITABLE = `
  DO $$ BEGIN
    IF current_setting('transaction_read_only')::boolean THEN
      RAISE 'the database takes no writes' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
  END $$`;

/** A platform waits about a second for a probe. Without a grace time, a late answer is as good as none. */
const PROBE_MS = 500;

@Injectable()
export class ReadinessService {
  private draining = false;
  /**
   * When a probe first failed since the last good one, by the monotonic clock; undefined: the last one was good. Before the
   * first good probe there is no grace.
   */
  private failingSince: number | undefined = -Infinity;

  constructor(
    @Inject(DataSource) private readonly dataSource: { query(statement: string): Promise<unknown> },
    @Inject(RedisConnection) private readonly redis: Pick<RedisConnection, 'whyNotReady'>,
    private readonly failures: StoreFailures,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** From now on not ready: the platform should send no more requests here. */
  startDraining(): void {
    this.draining = true;
  }

  /** @throws GatewayError `draining`, or `store_unavailable` that names what is missing in the log */
  async assertReady(): Promise<void> {
    if (this.draining) throw new GatewayError('draining', { reason: 'draining' });
    await this.assertDatabase();
    const missing = await this.redis.whyNotReady();
    if (missing !== undefined) throw new GatewayError('store_unavailable', { reason: `redis: ${missing}` });
  }

  private async assertDatabase(): Promise<void> {
    const reason = await this.whyDatabaseIsNotReady();
    if (reason === undefined) {
      this.failingSince = undefined;
      return;
    }
    const now = this.clock.monotonic();
    this.failingSince ??= now;
    // Calls of known keys go on for as long: they would not arrive at a gateway that is not ready.
    if (now - this.failingSince >= this.config.DATABASE_OUTAGE_GRACE_SECONDS * 1_000)
      throw new GatewayError('store_unavailable', { reason });
  }

  private async whyDatabaseIsNotReady(): Promise<string | undefined> {
    if (this.failures.areMany) return 'recent store failures';
    const probe = this.dataSource.query(ASSERT_WRITABLE);
    const hasGrace = this.config.DATABASE_OUTAGE_GRACE_SECONDS > 0;
    try {
      await (hasGrace ? withTimeout(PROBE_MS, probe) : probe);
      return undefined;
    } catch (cause) {
      this.failures.log(cause);
      return unavailableReason(cause);
    }
  }
}
