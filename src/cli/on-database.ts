import type { DataSource } from 'typeorm';
import type { AppConfig } from '../config/environment.js';
import { hasEmbeddedDatabase, endOnCrash } from '../database/embedded/embedded-database.js';
import { isTableMissing } from '../database/database-errors.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';

/** @throws Error when there is no embedded database, as in a wrong working folder: a command must not create one */
export function assertDatabase(settings: AppConfig): AppConfig {
  if (settings.DATABASE_URL === undefined) assertEmbeddedDatabase(settings.DATA_DIR);
  return settings;
}

export function assertEmbeddedDatabase(dataDir: string): void {
  if (!hasEmbeddedDatabase(dataDir)) throw new Error(`there is no embedded database in ${dataDir} (DATA_DIR)`);
}

/** Runs a command on the gateway's database, without a time limit for statements. */
export async function onDatabase<Result>(
  settings: AppConfig,
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const dataSource = new TollgateDataSource(settings, ENTITIES, { statementTimeout: 'none', onCrash: endOnCrash });
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } catch (cause) {
    if (!isTableMissing(cause)) throw cause;
    throw new Error('The database has no tables yet: the first start of the gateway creates them.', { cause });
  } finally {
    await dataSource.destroy();
  }
}
