import { readdirSync, readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const FOLDER = new URL('./baseline/', import.meta.url);

interface Named {
  readonly name: string;
}

/** The tables of 0.1.0, one file for each area. Functions are plain files as well: `functions/`. */
export class Baseline1795219200000 implements MigrationInterface {
  readonly name = 'Baseline1795219200000';

  async up(runner: QueryRunner): Promise<void> {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'));
    for (const file of files.sort()) await runner.query(readFileSync(new URL(file, FOLDER), 'utf8'));
  }

  async down(runner: QueryRunner): Promise<void> {
    const functions: readonly Named[] = await runner.query('SELECT "name" FROM "sql_functions"');
    for (const { name } of functions) await runner.query(`DROP FUNCTION IF EXISTS "${name}"`);
    const tables: readonly Named[] = await runner.query(TABLES);
    for (const { name } of tables) await runner.query(`DROP TABLE "${name}" CASCADE`);
  }
}

/** All but the one in which TypeORM notes migrations, and partitions, which go with their table. */
const TABLES = `
  SELECT c.relname::text AS "name" FROM pg_class c
  WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition AND c.relname <> 'migrations'`;
