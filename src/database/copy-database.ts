import type { EntityManager } from 'typeorm';
import { runMigrations } from './run-migrations.js';
import type { TollgateDataSource } from './tollgate-data-source.js';

/** So many rows are in memory at a time. */
const PAGE_ROWS = 500;

const HERE = `c.relnamespace = to_regnamespace(quote_ident(current_schema()))`;

/** Partitions come with their table. The target notes its migrations and functions itself. */
const TABLES = `
  SELECT c.relname::text AS name, ARRAY(
    SELECT DISTINCT other.relname::text FROM pg_constraint k JOIN pg_class other ON other.oid = k.confrelid
    WHERE k.contype = 'f' AND k.conrelid = c.oid AND k.confrelid <> c.oid
  ) AS needs
  FROM pg_class c
  WHERE ${HERE} AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('migrations', 'sql_functions')
  ORDER BY c.relname`;

const PARTITIONS = `
  SELECT c.relname::text AS name, parent.relname::text AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class parent ON parent.oid = i.inhparent
  WHERE ${HERE} AND c.relkind = 'r' AND c.relispartition ORDER BY c.relname`;

interface Table {
  readonly name: string;
  /** Tables that its foreign keys refer to. */
  readonly needs: readonly string[];
}

interface Partition {
  readonly name: string;
  readonly parent: string;
  readonly bound: string;
}

export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
}

/**
 * Copies every row into a database that has none, and makes its tables first. The rows are written in one transaction:
 * all of them, or none.
 *
 * @param source has all migrations, and no other process writes to it
 */
export async function copyDatabase(
  source: TollgateDataSource,
  target: TollgateDataSource,
): Promise<readonly CopiedTable[]> {
  const tables: readonly Table[] = await source.query(TABLES);
  await assertEmpty(target, tables);
  await runMigrations(target);
  return source.transaction((from) =>
    target.transaction(async (to) => {
      await makePartitions(from, to);
      const copied: CopiedTable[] = [];
      for (const { name } of inOrderOfNeeds(tables)) {
        // What its triggers would write is copied like everything else.
        await to.query(`ALTER TABLE "${name}" DISABLE TRIGGER USER`);
        copied.push({ name, rows: await copyTable(from, to, name) });
        await to.query(`ALTER TABLE "${name}" ENABLE TRIGGER USER`);
      }
      return copied;
    }),
  );
}

/** Before its migrations: a database that is in use stays as it is. */
async function assertEmpty(target: TollgateDataSource, tables: readonly Table[]): Promise<void> {
  const existing: readonly Table[] = await target.query(TABLES);
  for (const { name } of existing.filter((table) => tables.some((expected) => expected.name === table.name))) {
    const rows: readonly unknown[] = await target.query(`SELECT FROM "${name}" LIMIT 1`);
    if (rows.length > 0) throw new Error(`the database of DATABASE_URL is not empty: its table ${name} has rows`);
  }
}

function inOrderOfNeeds(tables: readonly Table[]): readonly Table[] {
  const ordered = new Set<Table>();
  while (ordered.size < tables.length) {
    const done = new Set([...ordered].map(({ name }) => name));
    const next = tables.filter((table) => !ordered.has(table) && table.needs.every((name) => done.has(name)));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    for (const table of next) ordered.add(table);
  }
  return [...ordered];
}

/** Of the months that the gateway has seen: their rows would go to the default partition for good. */
async function makePartitions(from: EntityManager, to: EntityManager): Promise<void> {
  const partitions: readonly Partition[] = await from.query(PARTITIONS);
  for (const { name, parent, bound } of partitions) {
    await to.query(`CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF "${parent}" ${bound}`);
  }
}

/**
 * Rows travel in PostgreSQL's own form of text for a row, which every type has, and which keeps what JSON loses: large
 * numbers, and the difference between NULL and the null of JSON.
 */
async function copyTable(from: EntityManager, to: EntityManager, table: string): Promise<number> {
  await from.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ROW(t.*)::text AS line FROM "${table}" AS t`);
  let copied = 0;
  for (;;) {
    const page: readonly { readonly line: string }[] = await from.query(`FETCH ${PAGE_ROWS} FROM copied`);
    if (page.length === 0) break;
    await to.query(
      // OFFSET keeps the line from being read once for each column.
      `INSERT INTO "${table}" SELECT (read.line).*
       FROM (SELECT line::"${table}" AS line FROM unnest($1::text[]) AS line OFFSET 0) AS read`,
      [page.map(({ line }) => line)],
    );
    copied += page.length;
  }
  await from.query('CLOSE copied');
  return copied;
}
