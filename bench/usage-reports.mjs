// `npm run bench:reports`: how long reports of a month of 100 million calls take, on generated sums.
//   DATABASE_URL=postgres://… npm run bench:reports    on a database of its own on that server of this machine
//   node bench/usage-reports.mjs --check               ends with code 1 when a figure is above its target
// Then what the sums cost calls: the database's CPU of a call with them, and with their triggers switched off.
// How to read it: bench/README.md.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { makeCharges, makeReservation, pair, perSecond, settled } from './usage-calls.mjs';

const KEYS = 1_000;
const WORKSPACES = 40;
const ROUNDS = 3;
const MAX_MS = 1_000;
const FROM = new Date('2026-10-01T00:00:00Z');
const TO = new Date('2026-11-01T00:00:00Z');
const CALLERS = 100;
const SLICE_MS = 2_000;
const MAX_RATIO = 1.3;
const PAGE = { skip: 0, take: 100, sort: 'start' };
const REPORTS = [
  { bucket: 'day', groupBy: [] },
  { bucket: 'hour', groupBy: [] },
  { bucket: 'none', groupBy: [] },
  { bucket: 'day', groupBy: ['provider'] },
  { bucket: 'day', groupBy: ['model'] },
  { bucket: 'day', groupBy: ['workspace_id'] },
  { bucket: 'day', groupBy: ['api_key'] },
  { bucket: 'day', groupBy: ['virtual_key'] },
  { bucket: 'month', groupBy: ['workspace_id', 'model'] },
  { bucket: 'hour', groupBy: ['model'] },
  // More than half a million groups, of which a page has a hundred.
  { bucket: 'hour', groupBy: ['api_key'], isRare: true },
];

await buildIfStale();
await import('reflect-metadata');
const { TollgateDataSource } = await import('../dist/src/database/tollgate-data-source.js');
const { runMigrations } = await import('../dist/src/database/run-migrations.js');
const { ENTITIES } = await import('../dist/src/entities.js');
const { Clock } = await import('../dist/src/common/time/clock.js');
const { PostgresUsageStore } = await import('../dist/src/usage/postgres-usage.store.js');
const { ReportQueries } = await import('../dist/src/usage/report-queries.js');
const { reportStatement } = await import('../dist/src/usage/report-statement.js');

if (!process.env.DATABASE_URL) throw new Error('needs DATABASE_URL');
const database = await makeDatabase(process.env.DATABASE_URL, 2);
const dataSource = await new TollgateDataSource(database.settings, ENTITIES, { statementTimeout: 'none' }).initialize();
const organisationId = randomUUID();
const OBSERVER = Object.fromEntries(
  ['batchDone', 'batchFailed', 'decided', 'dropped', 'reaped', 'reservationsOpen'].map((name) => [
    name,
    () => undefined,
  ]),
);
try {
  await runMigrations(dataSource);
  await compareCalls();
  await generate();
  await measure();
} finally {
  await dataSource.destroy();
  await database.drop();
}

/**
 * Each key calls two or three models by one virtual key: 2,500 groups. A group is active in 60 % of the hours of a working day, and
 * in 40 % of the others. An active hour has 121 calls in the mean, very unevenly.
 */
async function generate() {
  await dataSource.query(
    `INSERT INTO usage_rollup_groups (id, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint)
     SELECT gen_random_uuid(), $1, md5('workspace ' || k % $3)::uuid, md5('key ' || k)::uuid::text, 'virtual-key-' || k % 60,
       (ARRAY['openai', 'anthropic', 'bedrock', 'gemini', 'cohere'])[1 + (k + m) % 5], 'model-' || (k * 7 + m * 11) % 30,
       (ARRAY['chat.completions', 'messages', 'embeddings', 'rerank'])[1 + (k + m) % 4]
     FROM generate_series(1, $2) AS k CROSS JOIN generate_series(1, 3) AS m WHERE m < 3 OR k % 2 = 0`,
    [organisationId, KEYS, WORKSPACES],
  );
  await dataSource.query(
    `INSERT INTO usage_rollups (organisation_id, hours, start, group_id, calls, presumed_calls, failed_calls, cost_nano, tokens,
       q_input, q_cache_read, q_output)
     SELECT $1, 1, start, id, calls, calls / 500, calls / 80, calls * 3517211, calls * 2900, calls * 2100,
       CASE WHEN start_no % 2 = 0 THEN calls * 400 END, calls * 400
     FROM (
       SELECT g.id, start, extract(epoch FROM start)::bigint / 3600 AS start_no, 1 + floor(-ln(1 - random()) ^ 2 * 60)::bigint AS calls
       FROM generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', '1 hour') AS start
       CROSS JOIN usage_rollup_groups g
       -- Names the group: else PostgreSQL throws the dice once for all groups of an hour.
       WHERE random() + 0 * ascii(g.api_key_id) < CASE WHEN extract(isodow FROM start) < 6 AND extract(hour FROM start) BETWEEN 7 AND 19 THEN 0.6 ELSE 0.4 END
     ) AS active`,
    [organisationId, FROM, TO],
  );
  await dataSource.query(
    `INSERT INTO usage_rollups
     SELECT organisation_id, 24, date_trunc('day', start, 'UTC'), group_id, sum(calls), sum(presumed_calls), sum(failed_calls),
       sum(cost_nano), sum(tokens), sum(q_input), sum(q_cache_read), NULL, NULL, sum(q_output)
     FROM usage_rollups GROUP BY 1, 3, 4`,
  );
  for (const table of ['usage_rollups', 'usage_rollup_groups']) await dataSource.query(`VACUUM ANALYZE ${table}`);
}

async function measure() {
  const [{ calls, groups, hours, days, size }] = await dataSource.query(
    `SELECT sum(calls) FILTER (WHERE hours = 1) AS calls, count(DISTINCT group_id) AS groups,
       count(*) FILTER (WHERE hours = 1) AS hours, count(*) FILTER (WHERE hours = 24) AS days,
       pg_size_pretty(pg_total_relation_size('usage_rollups')) AS size FROM usage_rollups`,
  );
  console.log(`${database.name}: ${Number(calls).toLocaleString('en')} calls of ${groups} groups`);
  console.log(`  ${hours} hours and ${days} days of groups, ${size}; medians of ${ROUNDS}, first page`);
  const queries = new ReportQueries(dataSource);
  let slowest = 0;
  for (const { bucket, groupBy, isRare = false } of REPORTS) {
    const range = { organisationId, from: FROM, to: TO, isOpen: false, bucket, groupBy, filters: {} };
    const statement = reportStatement(range, PAGE);
    const [taken, used] = [[], []];
    let total = 'too large';
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now();
      const rows = await queries.run(organisationId, (read) => read(statement)).catch(() => undefined);
      if (rows !== undefined) ({ total } = rows[0]);
      taken.push(performance.now() - started);
      used.push(await cpuMsOf(statement));
    }
    const cpu = medianOf(used);
    if (!isRare) slowest = Math.max(slowest, cpu);
    const name = `${bucket} ${groupBy.join(', ')}`.padEnd(28);
    console.log(
      `  ${name} ${String(total).padStart(9)} rows  ${medianOf(taken).toFixed(0).padStart(5)} ms, ${cpu} ms CPU`,
    );
  }
  console.log(`most CPU of the usual ones: ${slowest} ms (target < ${MAX_MS})`);
  if (process.argv.includes('--check') && slowest >= MAX_MS) process.exitCode = 1;
}

/** Without helping processes, whose time is not that of the connection. */
async function cpuMsOf({ sql, parameters }) {
  return dataSource.transaction(async (manager) => {
    await manager.query(
      `SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off; SET LOCAL work_mem = '32MB'`,
    );
    const before = await databaseCpuMs();
    await manager.query(sql, [...parameters]);
    return (await databaseCpuMs()) - before;
  });
}

function medianOf(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

async function compareCalls() {
  const store = new PostgresUsageStore(dataSource, new Clock(), OBSERVER);
  const charges = makeCharges(2, 10n ** 18n);
  const kinds = {
    'reserved and settled': () => pair(store, charges),
    'without a limit': async () => {
      const reservation = makeReservation([]);
      store.record({ ...reservation, ...settled(reservation) });
      await new Promise((resolve) => setTimeout(resolve, 2));
    },
  };
  console.log('CPU of the database for 1,000 calls, with sums and without');
  for (const [name, call] of Object.entries(kinds)) {
    const costs = { ENABLE: [], DISABLE: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [change, taken] of Object.entries(costs)) {
        await dataSource.query(`ALTER TABLE usage_events ${change} TRIGGER USER`);
        const before = await databaseCpuMs();
        const rate = await perSecond(CALLERS, SLICE_MS, call);
        await store.flush();
        if (change === 'ENABLE') await dataSource.query('SELECT usage_fold_rollups(1000000)');
        taken.push(((await databaseCpuMs()) - before) / ((rate * SLICE_MS) / 1_000_000));
      }
    }
    const [having, without] = Object.values(costs).map((taken) => medianOf(taken));
    const ratio = having / without;
    console.log(
      `  ${name.padEnd(22)} ${having.toFixed(0)} and ${without.toFixed(0)} ms: ${ratio.toFixed(2)} (target < ${MAX_RATIO})`,
    );
    if (process.argv.includes('--check') && ratio >= MAX_RATIO) process.exitCode = 1;
  }
  await store.close();
  await dataSource.query('TRUNCATE usage_events, usage_rollups, usage_rollup_groups, usage_rollup_changes');
}

/** Of all connections to this database, in milliseconds. */
async function databaseCpuMs() {
  const processes = await dataSource.query('SELECT pid FROM pg_stat_activity WHERE datname = current_database()');
  const ticks = processes.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return 10 * ticks.reduce((sum, each) => sum + each, 0);
}
