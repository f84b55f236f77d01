import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { PricesModule } from './prices/prices.module.js';
import { ReportQueries } from './report-queries.js';
import { UsageBucket } from './usage-bucket.entity.js';
import { UsageBucketStore } from './usage-bucket.store.js';
import { UsageDriftMonitor } from './usage-drift.monitor.js';
import { UsageHousekeepingService } from './usage-housekeeping.service.js';
import { UsageMetrics } from './usage-metrics.js';
import { USAGE_OBSERVER, type UsageObserver } from './usage-observer.js';
import { UsageReport } from './usage-report.js';
import { UsageCounterRetention } from './usage-counter.retention.js';
import { LongStatement } from '../database/long-statement.js';
import { UsageLedgerRetention } from './usage-ledger.retention.js';
import { USAGE_STORE } from './usage-store.token.js';
import type { UsageStore } from './usage-store.types.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { UsageController } from './usage.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([UsageBucket]), PricesModule, WorkspacesModule],
  controllers: [UsageController],
  providers: [
    { provide: USAGE_OBSERVER, useClass: UsageMetrics },
    {
      provide: USAGE_STORE,
      inject: [DataSource, Clock, USAGE_OBSERVER, AppConfig],
      useFactory: createStore,
    },
    ReportQueries,
    UsageBucketStore,
    UsageDriftMonitor,
    UsageHousekeepingService,
    UsageReport,
    UsageCounterRetention,
    LongStatement,
    UsageLedgerRetention,
  ],
  exports: [PricesModule, ReportQueries, USAGE_STORE, UsageBucketStore],
})
export class UsageModule implements OnApplicationShutdown {
  constructor(@Inject(USAGE_STORE) private readonly store: UsageStore) {}

  /**
   * Closes the store after the calls in flight are settled (`beforeApplicationShutdown`), and before the database
   * closes, which is a global module.
   */
  async onApplicationShutdown(): Promise<void> {
    await this.store.close();
  }
}

function createStore(
  dataSource: DataSource,
  clock: Clock,
  observer: UsageObserver,
  { USAGE_MAX_GROUPS: maxBuckets }: AppConfig,
): UsageStore {
  // The embedded database has no network, so a missing answer means that it is busy.
  const isEmbedded = dataSource instanceof TollgateDataSource && dataSource.isEmbedded;
  return new PostgresUsageStore(dataSource, clock, observer, {
    maxBuckets,
    ...(isEmbedded ? { batchTimeoutMs: undefined } : {}),
  });
}
