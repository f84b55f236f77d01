import { MigrationExecutor } from 'typeorm';
import type { TollgateDataSource } from './tollgate-data-source.js';

/** Any constant will do; all gateways of one database must use the same. */
const MIGRATION_LOCK = 7_160_233;

/**
 * Applies pending migrations, once among all gateways that start together on one database. Lock and migrations share a
 * connection: the embedded database has no second one, and neither has a pool of one.
 */
export async function runMigrations(dataSource: TollgateDataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'each';
      await executor.executePendingMigrations();
    } finally {
      await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await runner.release();
  }
}
