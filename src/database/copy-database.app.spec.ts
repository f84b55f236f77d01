import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { makeOwnDatabase, type OwnDatabase } from '../../test/support/own-database.js';
import { databaseServer } from '../../test/support/services.js';
import { rollupDrift } from '../usage/rollup-drift.js';
import { type CopiedTable, copyDatabase } from './copy-database.js';
import { hasAllMigrations, runMigrations } from './run-migrations.js';
import { TollgateDataSource } from './tollgate-data-source.js';

/** The names `t` and `line` are there to be confused with those of the copy's own statements. */
const ODDITIES = `
  CREATE TABLE oddities (
    id integer PRIMARY KEY, t text, line bytea, amount numeric, at timestamptz, tags text[], ids uuid[], counts bigint[],
    body jsonb, is_odd boolean, total bigint, mark varchar(8)
  )`;
const FILL = `
  INSERT INTO oddities SELECT n, 'row ' || n, '\\x00ff5c22'::bytea, 1e-20 + n, now(), '{}', '{}', '{}', '{}' FROM generate_series(10, 1300) n;
  INSERT INTO oddities VALUES
    (1, E'back\\\\slash, "quoted" \\n''line''\\t(1,2)', '\\x', 123456789012345678901234567890.00100, '2026-01-31 23:59:59.123456+05:30',
     ARRAY['', NULL, 'NULL', 'a"b\\c', '{x,y}'], ARRAY[gen_random_uuid()], '{9223372036854775807,-9223372036854775808}',
     '{"big": 12345678901234567890.10, "text": "\\u20ac \\\\ \\"", "none": null}', true, 9223372036854775807, ''),
    (2, '', NULL, 'NaN', 'infinity', NULL, NULL, NULL, 'null', false, -1, NULL),
    (3, NULL, NULL, NULL, '-infinity', NULL, NULL, NULL, NULL, NULL, NULL, 'ü€😀')`;
const ROWS = 1_294;

jest.setTimeout(90_000);

let folder: string;
let server: OwnDatabase | undefined;
let source: TollgateDataSource;
let target: TollgateDataSource;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-copy-'));
  server = databaseServer === undefined ? undefined : await makeOwnDatabase(databaseServer);
  source = new TollgateDataSource({ DATABASE_POOL_SIZE: 1, DATA_DIR: join(folder, 'source') }, []);
  const place = server === undefined ? {} : { DATABASE_URL: server.url };
  target = new TollgateDataSource({ ...place, DATABASE_POOL_SIZE: 2, DATA_DIR: join(folder, 'target') }, []);
  await Promise.all([source.initialize(), target.initialize()]);
  await runMigrations(source);
});
afterAll(async () => {
  await Promise.all([source.destroy(), target.destroy()]);
  await server?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Every row of a table in PostgreSQL's own text, which distinguishes NULL from JSON's null. */
async function textOf(place: TollgateDataSource, table: string): Promise<string> {
  const [{ text }] = await place.query(`
    SELECT string_agg(ROW(x.*)::text || (body IS NULL), E'\\n' ORDER BY id) AS text FROM "${table}" x`);
  return text;
}

async function addOrganisation(place: TollgateDataSource, slug: string): Promise<void> {
  await place.query(`INSERT INTO organisations (slug, name) VALUES ($1, $1)`, [slug]);
}

/** Into the ledger. */
async function insertEvent(): Promise<void> {
  await source.query(`
    INSERT INTO usage_events (id, at, organisation_id, api_key_id, endpoint, trace_id, cost_nano, tokens, source,
      outcome, bucket_ids, amounts)
    VALUES (gen_random_uuid(), '2026-01-20', gen_random_uuid(), 'k', 'rerank', 't', 1, 2, 'provider', 'answered', '{}', '{}')`);
}

/** Some of the changes are in the sums already, and some are not. */
async function sumsOf(place: TollgateDataSource): Promise<unknown> {
  return {
    rollups: await place.query('SELECT r::text FROM usage_rollups r ORDER BY 1'),
    changes: await place.query('SELECT c::text FROM usage_rollup_changes c ORDER BY 1'),
  };
}

async function slugs(): Promise<readonly unknown[]> {
  return target.query('SELECT slug FROM organisations ORDER BY slug');
}

describe('no copy is made', () => {
  beforeEach(async () => {
    await target.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await source.query('DELETE FROM organisations');
    await addOrganisation(source, 'first');
  });

  it('refuses to copy into a database that has rows, and changes nothing in it', async () => {
    await target.query('CREATE TABLE organisations (slug text, name text)');
    await addOrganisation(target, 'there');
    await expect(copyDatabase(source, target)).rejects.toThrow('not empty: its table organisations has rows');
    expect(await slugs()).toEqual([{ slug: 'there' }]);
    expect(await hasAllMigrations(target)).toBe(false);
  });

  it('leaves no row of a copy in which one row was refused', async () => {
    for (const place of [source, target]) await place.query('CREATE TABLE zeros (size integer)');
    await target.query('ALTER TABLE zeros ADD CHECK (size = 0)');
    await source.query('INSERT INTO zeros VALUES (0), (1)');
    await expect(copyDatabase(source, target)).rejects.toThrow('violates check constraint');
    expect(await slugs()).toEqual([]);
    await target.query('ALTER TABLE zeros DROP CONSTRAINT zeros_size_check');
    await copyDatabase(source, target);
    expect(await slugs()).toEqual([{ slug: 'first' }]);
    await source.query('DROP TABLE zeros');
  });
});

describe('a copy', () => {
  let copied: readonly CopiedTable[];

  beforeAll(async () => {
    await target.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    for (const place of [source, target]) await place.query(ODDITIES);
    await source.query(FILL);
    await source.query('DELETE FROM organisations');
    await addOrganisation(source, 'first');
    await source.query(`INSERT INTO workspaces (organisation_id, slug, name) SELECT id, slug, name FROM organisations`);
    await source.query(`SELECT usage_make_partitions('2026-01-15', 0)`);
    await insertEvent();
    await source.query('SELECT usage_fold_rollups(10)');
    await insertEvent();
    copied = await copyDatabase(source, target);
  });

  it('copies every value of every type, however many rows there are', async () => {
    expect(copied).toContainEqual({ name: 'oddities', rows: ROWS });
    expect(await textOf(target, 'oddities')).toBe(await textOf(source, 'oddities'));
  });

  it('copies all tables of this version, and rows after those that they refer to', async () => {
    const names = copied.map(({ name }) => name);
    expect(copied).toContainEqual({ name: 'organisations', rows: 1 });
    expect(copied).toContainEqual({ name: 'workspaces', rows: 1 });
    expect(names.indexOf('organisations')).toBeLessThan(names.indexOf('workspaces'));
    for (const own of ['migrations', 'sql_functions']) expect(names).not.toContain(own);
    expect(await hasAllMigrations(target)).toBe(true);
  });

  it('copies the months of the ledger', async () => {
    const months = 'SELECT DISTINCT tableoid::regclass::text AS month FROM usage_events';
    expect(await target.query(months)).toEqual([{ month: 'usage_events_2026_01' }]);
  });

  it('copies the sums of the ledger, and does not count its rows a second time', async () => {
    expect(await sumsOf(target)).toEqual(await sumsOf(source));
    expect(await sumsOf(target)).toMatchObject({ rollups: [{}, {}], changes: [{}] });
    expect(await rollupDrift(target)).toEqual([]);
    await target.query('DELETE FROM usage_events');
    expect(await rollupDrift(target)).toEqual([]);
  });

  it('copies rows alone: no table has counters or computed state beside them', async () => {
    const beside: readonly unknown[] = await target.query(`
      SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name <> 'migrations'
        AND (is_identity = 'YES' OR is_generated <> 'NEVER' OR column_default LIKE 'nextval%')`);
    expect(beside).toEqual([]);
  });
});

describe('hasAllMigrations', () => {
  it('finds all migrations in the tables of this version', async () =>
    expect(await hasAllMigrations(source)).toBe(true));

  it.each([
    ['an older version', 'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)'],
    ['a newer version', `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`],
    ['no version', 'DROP TABLE migrations'],
  ])('misses migrations in the tables of %s', async (_what, change) => {
    // The pool has one connection: all three statements go by it.
    await source.query(`BEGIN; ${change}`);
    expect(await hasAllMigrations(source)).toBe(false);
    await source.query('ROLLBACK');
    expect(await hasAllMigrations(source)).toBe(true);
  });
});
