// One database a jest worker, made once for the whole run: embedded and in memory by default, on DATABASE_URL's server
// when that is set. A database for each test file would take three times as long.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

export default async function globalSetup(config) {
  const workers = Array.from({ length: config.maxWorkers }, (_, index) => index + 1);
  const { DATABASE_URL: server } = process.env;
  const urls = server ? await makeDatabases(server, workers) : await startEmbedded(workers);
  process.env.TOLLGATE_TEST_DATABASES = JSON.stringify(urls);
}

async function makeDatabases(server, workers) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const urls = [];
  for (const worker of workers) {
    const name = `tollgate_test_${worker}`;
    await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    await client.query(`CREATE DATABASE "${name}"`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    urls.push({ url: url.href, poolSize: 5 });
  }
  await client.end();
  return urls;
}

async function startEmbedded(workers) {
  globalThis.tollgateTestDatabases = [];
  return Promise.all(
    workers.map(async () => {
      const socketDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
      const file = new URL('../../src/database/embedded/pglite.worker.js', import.meta.url);
      const worker = new Worker(file, {
        workerData: { dataDir: 'memory://', socketPath: join(socketDir, '.s.PGSQL.5432') },
        execArgv: [],
      });
      await new Promise((ready, fail) => {
        worker.once('message', ready);
        worker.once('error', fail);
      });
      globalThis.tollgateTestDatabases.push({ worker, socketDir });
      return {
        url: `postgres://postgres:unused@localhost/postgres?host=${encodeURIComponent(socketDir)}`,
        poolSize: 1,
      };
    }),
  );
}
