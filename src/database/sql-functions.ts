import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { QueryRunner } from 'typeorm';

/** Beside the migrations, from source and from the build. */
const FOLDER = new URL('../../migrations/functions/', import.meta.url);
const EXTENSION = '.sql';

interface SqlFunction {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/**
 * Applies the database's functions: one file each, named as its function. A file whose hash is not the one that was applied
 * last is applied again, so that a function is changed by editing its file. All of them in one transaction, after the
 * migrations and under their lock.
 *
 * A file whose parameters or result change needs a `DROP FUNCTION IF EXISTS` of the former ones before its `CREATE OR REPLACE`.
 * A function that is not needed any more is dropped by a migration, which also deletes its row.
 */
export async function applySqlFunctions(runner: QueryRunner): Promise<void> {
  const rows: readonly Omit<SqlFunction, 'text'>[] = await runner.query('SELECT "name", "hash" FROM "sql_functions"');
  const applied = new Map(rows.map(({ name, hash }) => [name, hash]));
  const changed = readSqlFunctions().filter(({ name, hash }) => applied.get(name) !== hash);
  if (changed.length === 0) return;
  await runner.startTransaction();
  try {
    // They name each other: PostgreSQL would look each up while it is created.
    await runner.query('SET LOCAL check_function_bodies = off');
    for (const { name, text, hash } of changed) {
      await runner.query(text);
      await runner.query(
        `INSERT INTO "sql_functions" ("name", "hash") VALUES ($1, $2)
         ON CONFLICT ("name") DO UPDATE SET "hash" = $2, "applied_at" = now()`,
        [name, hash],
      );
    }
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

function readSqlFunctions(): readonly SqlFunction[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(EXTENSION));
  return files.sort().map((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    return { name: file.slice(0, -EXTENSION.length), text, hash: createHash('sha256').update(text).digest('hex') };
  });
}
