import { TestClock } from '../../../test/support/test-clock.js';
import { testDatabase } from '../../../test/support/test-database.js';
import { TollgateDataSource } from '../../database/tollgate-data-source.js';
import { ENTITIES } from '../../entities.js';
import { usageDrift } from '../drift.js';
import { PostgresUsageStore } from '../postgres-usage.store.js';
import { UsageAdjustment } from '../usage-adjustment.entity.js';
import { UsageBucket } from '../usage-bucket.entity.js';
import { UsageEvent } from '../usage-event.entity.js';
import { UsageReservation } from '../usage-reservation.entity.js';
import type { UsageStore } from '../usage-store.types.js';
import { NO_OBSERVER } from './no-observer.js';
import type { StoreHarness, TestedStore } from './store-harness.js';

/** A data source on this jest worker's database. */
export async function openDataSource(url?: string): Promise<TollgateDataSource> {
  const { url: own, poolSize } = await testDatabase();
  const settings = { DATABASE_URL: url ?? own, DATABASE_POOL_SIZE: poolSize, DATA_DIR: 'unused' };
  return new TollgateDataSource(settings, ENTITIES).initialize();
}

/** Removes all that stores and policies write. */
export async function emptyUsage(dataSource: TollgateDataSource): Promise<void> {
  for (const table of [
    'usage_adjustments',
    'usage_reservations',
    'usage_events',
    'usage_rollup_changes',
    'usage_rollups',
    'usage_rollup_groups',
    'usage_buckets',
    'webhook_deliveries',
    'webhook_outbox',
  ]) {
    await dataSource.query(`DELETE FROM ${table}`);
  }
}

/** What PostgreSQL holds, whichever store writes to it. */
export function inspect(store: UsageStore, clock: TestClock, dataSource: TollgateDataSource): TestedStore {
  return {
    store,
    clock,
    async bucket({ policyId, bucketHash, windowId }) {
      const bucket = await dataSource.getRepository(UsageBucket).findOneBy({ policyId, bucketHash, windowId });
      if (bucket === null) return undefined;
      return { used: BigInt(bucket.used), reserved: BigInt(bucket.reserved), epoch: bucket.epoch };
    },
    async isExhausted({ policyId, bucketHash, windowId }) {
      const bucket = await dataSource.getRepository(UsageBucket).findOneBy({ policyId, bucketHash, windowId });
      return (bucket?.exhaustedAt ?? null) !== null;
    },
    async ledger() {
      const events = await dataSource.getRepository(UsageEvent).find({ order: { chargedAt: 'ASC', id: 'ASC' } });
      return events.map(({ id, costNano, tokens, source, amounts }) => ({
        id,
        costNano: BigInt(costNano),
        tokens: BigInt(tokens),
        source,
        amounts: amounts.map(BigInt),
      }));
    },
    openReservations: () => dataSource.getRepository(UsageReservation).countBy({ isWithdrawn: false }),
    async alerts() {
      const rows: readonly { readonly type: string }[] = await dataSource.query('SELECT type FROM webhook_outbox');
      return rows.map(({ type }) => type).sort();
    },
    async adjustments() {
      const rows = await dataSource.getRepository(UsageAdjustment).find({ order: { createdAt: 'ASC' } });
      return rows.map(({ delta }) => BigInt(delta));
    },
    drifting: () => usageDrift(dataSource),
    async fill({ policyId, bucketHash, windowId }, used) {
      await dataSource.query(
        `WITH bucket AS (
           SELECT * FROM usage_buckets WHERE policy_id = $1 AND bucket_hash = $2 AND window_id = $3
         ), noted AS (
           INSERT INTO usage_adjustments (bucket_id, organisation_id, delta, epoch, actor_id, reason, at)
           SELECT id, organisation_id, $4::bigint - used, epoch, 'test', 'test', now() FROM bucket
         )
         UPDATE usage_buckets b SET used = $4 FROM bucket WHERE b.id = bucket.id`,
        [policyId, bucketHash, windowId, used],
      );
    },
    async lose(id) {
      await dataSource.query(
        `WITH gone AS (DELETE FROM usage_reservations WHERE id = $1 RETURNING bucket_ids, amounts)
         UPDATE usage_buckets b SET reserved = b.reserved - c.amount
         FROM gone, unnest(gone.bucket_ids, gone.amounts) AS c(id, amount) WHERE b.id = c.id`,
        [id],
      );
    },
  };
}

export const postgresHarness: StoreHarness = {
  name: 'postgres',
  async start() {
    const dataSource = await openDataSource();
    return {
      async open(maxBuckets) {
        await emptyUsage(dataSource);
        const clock = new TestClock();
        return inspect(new PostgresUsageStore(dataSource, clock, NO_OBSERVER, { maxBuckets }), clock, dataSource);
      },
      stop: () => dataSource.destroy(),
    };
  },
};
