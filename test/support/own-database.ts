import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface OwnDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A new empty database on the server of DATABASE_URL, for tests that need more than this jest worker's.
 * @param defaults of its sessions, as SQL
 * @param options of CREATE DATABASE
 */
export async function makeOwnDatabase(
  server: string,
  defaults: Readonly<Record<string, string>> = {},
  options = '',
): Promise<OwnDatabase> {
  const name = `tollgate_test_own_${randomBytes(6).toString('hex')}`;
  await runStatement(server, `CREATE DATABASE "${name}" ${options}`);
  for (const [setting, value] of Object.entries(defaults)) {
    await runStatement(server, `ALTER DATABASE "${name}" SET ${setting} = ${value}`);
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runStatement(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) };
}

/** Runs one statement. */
export async function runStatement(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
