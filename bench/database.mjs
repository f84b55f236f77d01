// A database for one run: on the server of DATABASE_URL, which is dropped afterwards, or the embedded one in a folder.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** @returns its name for people, the settings of a gateway that uses it, and how to drop it */
export async function makeDatabase(server, poolSize) {
  if (!server) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
    const drop = () => rmSync(folder, { recursive: true, force: true });
    return { name: 'embedded database', settings: { DATABASE_POOL_SIZE: 1, DATA_DIR: folder }, drop };
  }
  const name = `tollgate_bench_${randomBytes(6).toString('hex')}`;
  const onServer = async (statement) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await onServer(`CREATE DATABASE "${name}"`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const settings = { DATABASE_URL: url.href, DATABASE_POOL_SIZE: poolSize, DATA_DIR: 'unused' };
  return { name: 'PostgreSQL', settings, drop: () => onServer(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) };
}
