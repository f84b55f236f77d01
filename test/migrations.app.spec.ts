import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../migrations/migrations.js';
import { hasAllMigrations, MIGRATION_LOCK, runMigrations } from '../src/database/run-migrations.js';
import { type EntityClass, TollgateDataSource } from '../src/database/tollgate-data-source.js';
import { ENTITIES } from '../src/entities.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { testDatabase } from './support/test-database.js';

@Entity('forgotten_things')
class ForgottenThing {
  @PrimaryColumn({ type: 'varchar', length: 8 })
  readonly name!: string;

  @Column({ type: 'integer' })
  readonly size!: number;
}

class AddNote1795999999998 implements MigrationInterface {
  readonly name = 'AddNote1795999999998';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "usage_policies" ADD "note" text');
  }

  async down(): Promise<void> {}
}

class Lost1795999999999 implements MigrationInterface {
  readonly name = 'Lost1795999999999';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "lost" ADD "size" integer');
  }

  async down(): Promise<void> {}
}

/** Everything that a migration can leave behind, except the table of migrations. */
const SCHEMA = `
  SELECT 'column ' || table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' '
    || COALESCE(character_maximum_length::text, '') || ' ' || COALESCE(column_default, '') AS part
  FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
  UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND conrelid <> 'migrations'::regclass
  UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
  UNION ALL SELECT 'routine ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'sequence ' || relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' AND relname <> 'migrations_id_seq'
  ORDER BY 1`;

/** Partitions of later months, which gateways add over time. */
const MADE_AHEAD = /usage_events_\d{4}_\d{2}/;

interface Place {
  readonly url: string;
  readonly poolSize: number;
}

async function open(
  place: Place,
  entities: readonly EntityClass[] = ENTITIES,
  migrations: readonly (new () => MigrationInterface)[] = MIGRATIONS,
): Promise<TollgateDataSource> {
  const settings = { DATABASE_URL: place.url, DATABASE_POOL_SIZE: place.poolSize, DATA_DIR: 'unused' };
  const source = new TollgateDataSource(settings, entities, { statementTimeout: 'none' });
  return source.setOptions({ migrations: [...migrations] }).initialize();
}

/** Opens a data source that knows only the first migrations, and closes it. */
async function withMigrations<T>(
  place: Place,
  known: number,
  work: (source: TollgateDataSource) => Promise<T>,
): Promise<T> {
  const source = await open(place, ENTITIES, MIGRATIONS.slice(0, known));
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

async function schemaOf(source: TollgateDataSource): Promise<readonly string[]> {
  const rows: readonly { readonly part: string }[] = await source.query(SCHEMA);
  return rows.map(({ part }) => part).filter((part) => !MADE_AHEAD.test(part));
}

/** Statements that would adapt the tables to the entities. */
async function missingFor(place: Place, entities: readonly EntityClass[]): Promise<readonly string[]> {
  const source = await open(place, entities);
  try {
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    return upQueries.map(({ query }) => query);
  } finally {
    await source.destroy();
  }
}

describe('the migrations', () => {
  let place: Place;

  beforeAll(async () => {
    place = await testDatabase();
  });

  it('creates the tables that the entities describe', async () => {
    expect(await missingFor(place, ENTITIES)).toEqual([]);
  });

  it('detects an entity without a table', async () => {
    expect(await missingFor(place, [...ENTITIES, ForgottenThing])).toEqual([
      expect.stringContaining('CREATE TABLE "forgotten_things"'),
    ]);
  });

  it('lists migrations in the order of their times, in which they are applied', () => {
    const times = MIGRATIONS.map((migration) => Number(new migration().name.slice(-13)));
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it('restores the previous schema with the down of every migration', async () => {
    const before = await withMigrations(place, MIGRATIONS.length, schemaOf);
    for (let left = MIGRATIONS.length; left > 0; left -= 1) {
      await withMigrations(place, left, (source) => source.undoLastMigration());
    }
    expect(await withMigrations(place, 0, schemaOf)).toEqual([]);

    for (let known = 1; known <= MIGRATIONS.length; known += 1) {
      await withMigrations(place, known, async (source) => {
        const without = await schemaOf(source);
        await runMigrations(source);
        const having = await schemaOf(source);
        expect(having).not.toEqual(without);
        await source.undoLastMigration();
        expect(await schemaOf(source)).toEqual(without);
        await runMigrations(source);
        expect(await schemaOf(source)).toEqual(having);
      });
    }
    expect(await withMigrations(place, MIGRATIONS.length, schemaOf)).toEqual(before);
  });
});

describe('a database with tables of others', () => {
  let source: TollgateDataSource;

  beforeEach(async () => {
    source = await open(await testDatabase());
    await source.undoLastMigration();
  });
  afterEach(async () => {
    await source.query('DROP TABLE IF EXISTS "orders", "workspaces"');
    await runMigrations(source);
    await source.destroy();
  });

  it('keeps their tables when the tables of Tollgate come and go', async () => {
    await source.query('CREATE TABLE "orders" ("id" integer)');
    await runMigrations(source);
    await source.undoLastMigration();
    expect(await source.query('SELECT * FROM "orders"')).toEqual([]);
  });

  it('refuses a table with a name of its own, and makes no other', async () => {
    await source.query('CREATE TABLE "workspaces" ("id" integer)');
    await expect(runMigrations(source)).rejects.toThrow('has a table "workspaces" already');
    expect(await source.query(`SELECT to_regclass('api_keys') AS "table"`)).toEqual([{ table: null }]);
  });
});

describe('the functions of the database', () => {
  let source: TollgateDataSource;

  beforeAll(async () => {
    source = await open(await testDatabase());
  });
  afterAll(() => source.destroy());

  const bodyOf = async (name: string): Promise<string> => {
    const [row] = await source.query('SELECT prosrc FROM pg_proc WHERE proname = $1', [name]);
    return row.prosrc;
  };

  it('applies a function of the database again when its file has changed, and no other function', async () => {
    const body = await bodyOf('usage_raise_alerts');
    const before = await source.query('SELECT name, hash, applied_at FROM sql_functions ORDER BY name');
    await source.query(`
      CREATE OR REPLACE FUNCTION usage_raise_alerts(p_buckets uuid[]) RETURNS void LANGUAGE sql AS 'SELECT NULL'`);
    await source.query(`UPDATE sql_functions SET hash = 'of another file' WHERE name = 'usage_raise_alerts'`);
    await runMigrations(source);
    expect(await bodyOf('usage_raise_alerts')).toBe(body);
    const after = await source.query('SELECT name, hash, applied_at FROM sql_functions ORDER BY name');
    const changed = after.filter(
      (row: { applied_at: Date }, index: number) => row.applied_at > before[index].applied_at,
    );
    expect(changed.map(({ name }: { name: string }) => name)).toEqual(['usage_raise_alerts']);
    expect(after.map(({ hash }: { hash: string }) => hash)).toEqual(before.map(({ hash }: { hash: string }) => hash));
  });

  it('writes all functions of the database or none', async () => {
    await source.query(`UPDATE sql_functions SET hash = 'old' WHERE name IN ('usage_apply', 'usage_reset')`);
    await source.query('ALTER TABLE sql_functions ADD CONSTRAINT no_reset CHECK (name <> $$usage_reset$$) NOT VALID');
    await expect(runMigrations(source)).rejects.toThrow('no_reset');
    expect(await source.query(`SELECT name FROM sql_functions WHERE hash = 'old' ORDER BY name`)).toEqual([
      { name: 'usage_apply' },
      { name: 'usage_reset' },
    ]);
    await source.query('ALTER TABLE sql_functions DROP CONSTRAINT no_reset');
    await runMigrations(source);
    expect(await source.query(`SELECT name FROM sql_functions WHERE hash = 'old'`)).toEqual([]);
  });
});

onServer('gateways that migrate at once (needs DATABASE_URL: the embedded database has one session)', () => {
  let database: OwnDatabase;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
  });

  afterAll(() => database.drop());

  it('applies every migration once when gateways start together', async () => {
    const place = { url: database.url, poolSize: 2 };
    const sources = await Promise.all([open(place), open(place), open(place)]);
    try {
      await Promise.all(sources.map((source) => runMigrations(source)));
      const applied = await sources[0].query('SELECT "name" FROM "migrations" ORDER BY "timestamp"');
      expect(applied).toEqual(MIGRATIONS.map((migration) => ({ name: new migration().name })));
    } finally {
      await Promise.all(sources.map((source) => source.destroy()));
    }
  });

  it('waits for a concurrent migration despite short database timeouts', async () => {
    const hasty = await makeOwnDatabase(databaseServer ?? '', {
      statement_timeout: `'200ms'`,
      lock_timeout: `'100ms'`,
    });
    const other = new Client({ connectionString: hasty.url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const source = await open({ url: hasty.url, poolSize: 2 });
    try {
      const waits: string[] = [];
      const migrated = runMigrations(source, (wait) => waits.push(wait));
      await Promise.race([migrated, other.query('SET statement_timeout = 0; SELECT pg_sleep(0.5)')]);
      expect(waits).toEqual(['gateway']);
      await other.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await migrated;
      expect(await hasAllMigrations(source)).toBe(true);
    } finally {
      await Promise.all([other.end(), source.destroy()]);
      await hasty.drop();
    }
  });
});

onServer('a migration of a table in use (needs DATABASE_URL: the embedded database has one session)', () => {
  let place: Place;
  let database: OwnDatabase;
  let dump: Client;
  let caller: Client;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
    place = { url: database.url, poolSize: 2 };
    [dump, caller] = [new Client({ connectionString: place.url }), new Client({ connectionString: place.url })];
    await Promise.all([dump.connect(), caller.connect()]);
    await withMigrations(place, MIGRATIONS.length, (source) => runMigrations(source));
    await dump.query('BEGIN; LOCK TABLE "usage_policies" IN ACCESS SHARE MODE');
    // As long as the gateways' own statements wait.
    await caller.query(`SET lock_timeout = '1s'`);
  });
  afterAll(async () => {
    await Promise.all([dump.end(), caller.end()]);
    await database.drop();
  });

  it('waits without blocking queries, reports the wait once and then migrates', async () => {
    const source = await open(place, ENTITIES, [...MIGRATIONS, AddNote1795999999998]);
    try {
      const [{ lock_timeout: before }] = await source.query('SHOW lock_timeout');
      let told = 0;
      let isDone = false;
      const migrated = runMigrations(source, () => (told += 1)).then(() => (isDone = true));
      const until = Date.now() + 4_000;
      while (Date.now() < until) await caller.query('SELECT count(*) FROM "usage_policies"');
      expect([told, isDone]).toEqual([1, false]);

      await dump.query('ROLLBACK');
      await migrated;
      await caller.query('SELECT "note" FROM "usage_policies"');
      expect(await source.query('SHOW lock_timeout')).toEqual([{ lock_timeout: before }]);
    } finally {
      await source.destroy();
    }
  });

  it('does not retry a migration that fails for another reason', async () => {
    const source = await open(place, ENTITIES, [Lost1795999999999]);
    try {
      await expect(runMigrations(source)).rejects.toThrow('"lost" does not exist');
    } finally {
      await source.destroy();
    }
  });
});
