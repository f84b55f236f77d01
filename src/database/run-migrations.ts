import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationExecutor, type QueryRunner } from 'typeorm';
import { isLockRefused } from './database-errors.js';
import { applySqlFunctions } from './sql-functions.js';
import type { TollgateDataSource } from './tollgate-data-source.js';

/** Any constant will do; all gateways of one database must use the same. */
export const MIGRATION_LOCK = 7_160_233;

/**
 * A statement that needs a table waits behind a migration that waits for it. The gateways' own statements wait for a second at
 * most before they are refused, so that a migration has to give way sooner.
 */
const LOCK_TIMEOUT_MS = 500;
/** For those who waited behind it. */
const PAUSE_MS = 2_000;

/** Whom migrations may have to wait for: another gateway that applies them, or a user of a table (a dump, a report). */
export type MigrationWait = 'gateway' | 'table';

/**
 * Applies pending migrations, then changed functions, once among all gateways that start together on one database. Lock and migrations share a
 * connection: the embedded database has no second one, and neither has a pool of one.
 *
 * @param onWait told once for each of the two; the migrations wait for as long as that takes
 */
export async function runMigrations(
  dataSource: TollgateDataSource,
  onWait: (wait: MigrationWait) => void = () => undefined,
): Promise<void> {
  // TypeORM would print each try that fails. What has failed for good is thrown.
  dataSource.setOptions({ logger: 'debug' });
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await lock(runner, onWait);
    try {
      await runner.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
      let isTold = false;
      while (!(await isMigrated(dataSource, runner))) {
        if (!isTold) onWait('table');
        isTold = true;
        await sleep(PAUSE_MS);
      }
    } finally {
      // A connection that is gone has released both, and the failure that ended it is the one to report.
      await unlock(runner).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}

async function lock(runner: QueryRunner, onWait: (wait: MigrationWait) => void): Promise<void> {
  const [row]: readonly { readonly locked: boolean }[] = await runner.query(
    'SELECT pg_try_advisory_lock($1) AS locked',
    [MIGRATION_LOCK],
  );
  if (row?.locked === true) return;
  onWait('gateway');
  await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}

async function unlock(runner: QueryRunner): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
}

/** Whether the tables are those of this version, no older and no newer ones. */
export async function hasAllMigrations(dataSource: TollgateDataSource): Promise<boolean> {
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  const applied = new Set(executed.map(({ name }) => name));
  const known = dataSource.migrations.map(({ name }) => name);
  return applied.size === known.length && known.every((name) => name !== undefined && applied.has(name));
}

/** False: others hold a lock that a migration needs. The migrations before that one are done. */
async function isMigrated(dataSource: TollgateDataSource, runner: QueryRunner): Promise<boolean> {
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'each';
  try {
    await executor.executePendingMigrations();
    await applySqlFunctions(runner);
    return true;
  } catch (error) {
    if (isLockRefused(error)) return false;
    throw error;
  }
}
