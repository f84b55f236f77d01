import { rmSync } from 'node:fs';
import pg from 'pg';

export default async function globalTeardown() {
  for (const database of globalThis.tollgateTestDatabases ?? []) {
    await ('worker' in database ? stopEmbedded(database) : drop(database));
  }
}

async function stopEmbedded({ worker, socketDir }) {
  await worker.terminate();
  rmSync(socketDir, { recursive: true, force: true });
}

async function drop({ server, name, guard }) {
  await guard.end();
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await client.end();
}
