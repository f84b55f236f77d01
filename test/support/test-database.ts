import { runMigrations } from '../../src/database/run-migrations.js';
import { TollgateDataSource } from '../../src/database/tollgate-data-source.js';
import { ENTITIES } from '../../src/entities.js';

interface Place {
  readonly url: string;
  readonly poolSize: number;
}

export interface TestDatabase extends Place {
  /** The settings of a gateway or command that uses it. */
  readonly settings: { readonly DATABASE_URL: string; readonly DATABASE_POOL_SIZE: string };
  /** Removes every row, so that the next gateway finds an empty database. */
  empty(): Promise<void>;
}

let isMigrated = false;

/** This jest worker's own database, migrated. */
export async function testDatabase(): Promise<TestDatabase> {
  const places: readonly Place[] = JSON.parse(process.env['TOLLGATE_TEST_DATABASES'] ?? '[]');
  const place = places[Number(process.env['JEST_WORKER_ID'] ?? '1') - 1];
  if (place === undefined) throw new Error('the global setup made no database for this worker');
  if (!isMigrated) await withDataSource(place, runMigrations);
  isMigrated = true;
  const settings = { DATABASE_URL: place.url, DATABASE_POOL_SIZE: String(place.poolSize) };
  return { ...place, settings, empty: () => withDataSource(place, deleteAll) };
}

async function withDataSource(place: Place, work: (source: TollgateDataSource) => Promise<void>): Promise<void> {
  const settings = { DATABASE_URL: place.url, DATABASE_POOL_SIZE: place.poolSize, DATA_DIR: 'unused' };
  const source = await new TollgateDataSource(settings, ENTITIES, { statementTimeout: 'none' }).initialize();
  try {
    await work(source);
  } finally {
    await source.destroy();
  }
}

/** But those that say what the database has, and partitions, which are emptied with their table. */
const TABLES = `
  SELECT c.relname::text AS name FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('migrations', 'sql_functions')`;

/** DELETE, because TRUNCATE makes new files for every table and index; as a replica, which checks no foreign keys and runs no triggers. */
async function deleteAll(source: TollgateDataSource): Promise<void> {
  const tables: readonly { readonly name: string }[] = await source.query(TABLES);
  const deletions = tables.map(({ name }) => `DELETE FROM "${name}";`);
  await source.query(`BEGIN; SET LOCAL session_replication_role = replica; ${deletions.join(' ')} COMMIT`);
}
