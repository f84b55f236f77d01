// `npm run bench`: what the gateway costs over a proxy that only passes bytes on, in one run on one machine.
//   node bench/run.mjs           prints the table
//   node bench/run.mjs --check   ends with code 1 when a figure is above its target
//   DATABASE_URL=postgres://… node bench/run.mjs    with databases of its own on that server; else with embedded ones
// How to read it: bench/README.md.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { post, startGateway } from './gateway.mjs';
import { Load } from './load.mjs';
import { differenceOf, measure, printTable, ratioOf, warmUp } from './measure.mjs';
import { startServer, stopAll } from './processes.mjs';
import { LARGE, rerankBody, RESULTS, SMALL } from './rerank-bodies.mjs';

const CONCURRENCY = 32;
const POOL_SIZE = 10;
/** Microseconds that a usage limit may add to a request. */
const POLICY_TARGET = 60;
const LIMITED = 'gateway + policy';
/** Every call falls under it, and none reaches it. */
const POLICY = {
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 1e9,
};
const SMALL_PLAN = { target: 2.5, rounds: 5, sliceMs: 1_000, warmUp: { requests: 20_000, ms: 6_000 } };
const LARGE_PLAN = { target: 1.6, rounds: 2, sliceMs: 1_000, warmUp: { requests: 20_000, ms: 2_000 } };

const databases = [];

try {
  await buildIfStale();
  const servers = await startServers();
  console.log(`Node ${process.versions.node}, ${CONCURRENCY} connections; CPU of the server's process per request`);
  const { ratio, added } = await compare(servers, SMALL, SMALL_PLAN);
  await compare(servers.slice(0, 2), LARGE, LARGE_PLAN);
  console.log(`\nratio to raw pass-through: ${ratio.toFixed(2)} (target ≤ ${SMALL_PLAN.target})`);
  console.log(`a usage limit adds: ${added.toFixed(1)} µs (target ≤ ${POLICY_TARGET}; ${databases[0].name})`);
  const isMet = ratio <= SMALL_PLAN.target && added <= POLICY_TARGET;
  if (process.argv.includes('--check') && !isMet) process.exitCode = 1;
} catch (error) {
  console.error(`The benchmark failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  for (const { drop } of databases) await drop();
  process.exit();
}

/**
 * A raw proxy, the gateway, the gateway with a usage limit, and a second raw proxy: how far the two equal ones are apart is
 * the error of the method.
 */
async function startServers() {
  const { url: provider } = await startServer('./fake-provider.mjs');
  const raw = await startServer('./raw-proxy.mjs', { args: [provider] });
  const rawAgain = await startServer('./raw-proxy.mjs', { args: [provider] });
  return [
    { name: 'raw', ...raw },
    { name: 'gateway', ...(await startRerank(provider)) },
    { name: LIMITED, ...(await startRerank(provider, POLICY)) },
    { name: 'raw again', ...rawAgain },
  ];
}

async function startRerank(provider, policy) {
  const database = await makeDatabase(process.env.DATABASE_URL, POOL_SIZE);
  databases.push(database);
  const gateway = await startGateway(provider, { settings: database.settings, policy });
  const url = `${gateway.url}/v1/rerank`;
  await assertAnswers(url, gateway.headers);
  return { ...gateway, url };
}

async function assertAnswers(url, headers) {
  for (const form of [SMALL, LARGE]) {
    const { results } = await post(url, headers, rerankBody(form));
    if (results.length !== RESULTS) throw new Error(`${results.length} results instead of ${RESULTS}`);
  }
}

/** Measures and prints one table; returns how many times the CPU of the raw proxy the gateway needs, and what a limit adds. */
async function compare(servers, form, { target, rounds, sliceMs, warmUp: warm }) {
  const body = rerankBody(form);
  const subjects = [];
  for (const server of servers) {
    subjects.push({ ...server, load: await Load.open(server.url, { ...server, body, concurrency: CONCURRENCY }) });
  }
  await warmUp(subjects, warm);
  const slices = await measure(subjects, { rounds, sliceMs });
  for (const { load } of subjects) load.close();

  console.log(`\n${form.name} (target ≤ ${target} × raw)`);
  printTable(slices, 'requests');
  const limited = slices.get(LIMITED);
  const added = limited === undefined ? 0 : differenceOf(limited, slices.get('gateway'));
  return { ratio: ratioOf(slices.get('gateway'), slices.get('raw')), added };
}
