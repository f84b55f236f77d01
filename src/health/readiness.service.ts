import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
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

@Injectable()
export class ReadinessService {
  private draining = false;

  constructor(
    @Inject(DataSource) private readonly dataSource: { query(statement: string): Promise<unknown> },
    @Inject(RedisConnection) private readonly redis: Pick<RedisConnection, 'whyNotReady'>,
    private readonly failures: StoreFailures,
  ) {}

  /** From now on not ready: the platform should send no more requests here. */
  startDraining(): void {
    this.draining = true;
  }

  /** @throws GatewayError `draining`, or `store_unavailable` that names what is missing in the log */
  async assertReady(): Promise<void> {
    if (this.draining) throw new GatewayError('draining', { reason: 'draining' });
    if (this.failures.areMany) throw new GatewayError('store_unavailable', { reason: 'recent store failures' });
    await this.dataSource.query(ASSERT_WRITABLE).catch((cause: unknown) => {
      this.failures.log(cause);
      throw new GatewayError('store_unavailable', { reason: unavailableReason(cause) });
    });
    const missing = await this.redis.whyNotReady();
    if (missing !== undefined) throw new GatewayError('store_unavailable', { reason: `redis: ${missing}` });
  }
}
