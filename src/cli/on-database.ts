import type { DataSource } from 'typeorm';
import type { AppConfig } from '../config/environment.js';
import { isTableMissing } from '../database/database-errors.js';
import { endOnCrash } from '../database/embedded/end-on-crash.js';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ENTITIES } from '../entities.js';

/** Does the work of a command on the gateway's database, however long a statement takes. */
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
    throw new Error('The database has no tables yet: the first start of the gateway makes them.', { cause });
  } finally {
    await dataSource.destroy();
  }
}
