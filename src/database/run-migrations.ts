import type { TollgateDataSource } from './tollgate-data-source.js';

/** Any constant will do; all gateways of one database must use the same. */
const MIGRATION_LOCK = 7_160_233;

/** Applies pending migrations, once among all gateways that start together on one database. */
export async function runMigrations(dataSource: TollgateDataSource): Promise<void> {
  if (dataSource.isEmbedded) {
    // The data folder's lock already keeps other gateways out, and the pool has no second connection.
    await dataSource.runMigrations();
    return;
  }
  await withAdvisoryLock(dataSource, MIGRATION_LOCK, async () => {
    await dataSource.runMigrations();
  });
}

async function withAdvisoryLock(
  dataSource: TollgateDataSource,
  lock: number,
  work: () => Promise<void>,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [lock]);
    try {
      await work();
    } finally {
      await runner.query('SELECT pg_advisory_unlock($1)', [lock]);
    }
  } finally {
    await runner.release();
  }
}
