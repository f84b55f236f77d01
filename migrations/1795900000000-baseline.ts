import { readdirSync, readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FOLDER = new URL('./baseline/', import.meta.url);
/** Triggers of the tables call it, so that it must be there before them. */
const TRIGGER_FUNCTION = new URL('./functions/usage_count_rollups.sql', import.meta.url);

interface Named {
  readonly name: string;
}

/** The tables of 0.1.0, one file for each area. Functions are plain files as well: `functions/`. */
export class Baseline1795900000000 implements MigrationInterface {
  readonly name = 'Baseline1795900000000';

  async up(runner: QueryRunner): Promise<void> {
    const [table] = await existingTables(runner);
    if (table !== undefined) {
      throw new Error(
        `The database has a table "${table}" already, which is not of a release of Tollgate: use an empty database (or DATA_DIR).`,
      );
    }
    await runner.query(readFileSync(TRIGGER_FUNCTION, 'utf8'));
    for (const text of sqlFiles()) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    const functions: readonly Named[] = await runner.query('SELECT "name" FROM "sql_functions"');
    const tables = await existingTables(runner);
    for (const table of tables) await runner.query(`DROP TABLE "${table}" CASCADE`);
    for (const { name } of functions) await runner.query(`DROP FUNCTION IF EXISTS "${name}"`);
  }
}

function sqlFiles(): readonly string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => readFileSync(new URL(file, FOLDER), 'utf8'));
}

/** Those of the tables that the database has. Partitions are not among them: they go with their table. */
async function existingTables(runner: QueryRunner): Promise<readonly string[]> {
  const names = sqlFiles().flatMap((text) => [...text.matchAll(/^CREATE TABLE "(\w+)" \(/gm)].map(([, name]) => name));
  const rows: readonly Named[] = await runner.query(
    `SELECT relname::text AS "name" FROM pg_class
     WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relname = ANY($1)`,
    [names],
  );
  return rows.map(({ name }) => name);
}
