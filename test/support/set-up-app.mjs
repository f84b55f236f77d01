// One database per jest worker, made once for the whole run: embedded and in memory by default, on the server of
// DATABASE_URL when that is set. A database per test file would take three times as long.
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

const PREFIX = 'tollgate_test_run_';
/** Any number that no gateway uses. */
const SETUP_LOCK = 7160299;

export default async function setUpApp(config) {
  if (process.env.TOLLGATE_TEST_DATABASES !== undefined) return;
  const workers = Array.from({ length: config.maxWorkers }, (_, index) => index + 1);
  const { DATABASE_URL: server } = process.env;
  const urls = server ? await makeDatabases(server, workers) : await startEmbedded(workers);
  process.env.TOLLGATE_TEST_DATABASES = JSON.stringify(urls);
}

async function makeDatabases(server, workers) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  // Runs on one server set up one after the other. After that they never meet: each has databases of its own.
  await client.query('SELECT pg_advisory_lock($1)', [SETUP_LOCK]);
  await dropAbandoned(client);
  const run = randomBytes(4).toString('hex');
  globalThis.tollgateTestDatabases = [];
  const urls = [];
  for (const worker of workers) {
    const name = `${PREFIX}${run}_${worker}`;
    await client.query(`CREATE DATABASE "${name}"`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    const guard = new pg.Client({ connectionString: url.href });
    await guard.connect();
    globalThis.tollgateTestDatabases.push({ server, name, guard });
    urls.push({ url: url.href, poolSize: 5 });
  }
  await client.end();
  return urls;
}

/** Databases of runs that were killed: no connection is open to them, not even the one of their run. */
async function dropAbandoned(client) {
  const { rows } = await client.query(
    `SELECT datname FROM pg_database d WHERE starts_with(datname, $1)
     AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = d.datname)`,
    [PREFIX],
  );
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS "${datname}"`);
}

async function startEmbedded(workers) {
  globalThis.tollgateTestDatabases = [];
  return Promise.all(
    workers.map(async () => {
      const socketDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
      const file = new URL('../../src/database/embedded/pglite.worker.js', import.meta.url);
      const worker = new Worker(file, {
        // More than one connection: a test reads the database of the gateway that it tests.
        workerData: { dataDir: 'memory://', socketPath: join(socketDir, '.s.PGSQL.5432'), maxConnections: 4 },
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
