// `npm run bench`: what the gateway costs over a proxy that only passes bytes on, in one run on one machine.
//   node bench/run.mjs           prints the table
//   node bench/run.mjs --check   ends with code 1 when a figure is above its target
//   DATABASE_URL=postgres://… node bench/run.mjs    with databases of its own on that server; else with embedded ones
// How to read it: bench/README.md.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { post, startGateway } from './gateway.mjs';
import { Load } from './load.mjs';
import { differenceOf, floorOf, measure, printTable, ratioOf, ratioWithDatabase, warmUp } from './measure.mjs';
import { startServer, stopAll } from './processes.mjs';
import { LARGE, rerankBody, RESULTS, SMALL } from './rerank-bodies.mjs';

const CONCURRENCY = 32;
const POOL_SIZE = 10;
/** Microseconds that a usage limit may add to a request. */
const POLICY_TARGET = 60;
/** Every call falls under it, and none reaches it. */
const POLICY = {
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 1e9,
};
const SMALL_PLAN = { rounds: 5, sliceMs: 1_000, warmUpMs: 10_000 };
const LARGE_PLAN = { rounds: 2, sliceMs: 1_000, warmUpMs: 2_000 };
const TARGETS = new Map([
  [SMALL, 2.5],
  [LARGE, 1.6],
]);

const databases = [];

try {
  await buildIfStale();
  const { raw, rawAgain, gateway, limited } = await startServers();
  console.log(`Node ${process.versions.node}, ${CONCURRENCY} connections; CPU of the server per request`);
  const passing = [raw, gateway, rawAgain];
  const [ratio, withDatabase] = await compare(passing, SMALL, SMALL_PLAN, gatewayToRaw);
  // By itself: what the database does after the slices of the one would slow the raw proxies down.
  const added = await compare([gateway, limited], SMALL, SMALL_PLAN, addedByLimit);
  await compare(passing, LARGE, LARGE_PLAN, gatewayToRaw);
  console.log(`\nratio to raw pass-through: ${ratio.toFixed(2)} (target ≤ ${TARGETS.get(SMALL)})`);
  if (withDatabase !== ratio) console.log(`with what the embedded database does: ${withDatabase.toFixed(2)}`);
  console.log(`a usage limit adds: ${added.toFixed(1)} µs (target ≤ ${POLICY_TARGET}; ${databases[0].name})`);
  const isMet = ratio <= TARGETS.get(SMALL) && added <= POLICY_TARGET;
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
 * Two raw proxies, the gateway, and the gateway with a usage limit. The floor are both raw ones; how far they are apart is the
 * error of the method.
 */
async function startServers() {
  const { url: provider } = await startServer('./fake-provider.mjs');
  const raw = await startServer('./raw-proxy.mjs', { args: [provider] });
  const rawAgain = await startServer('./raw-proxy.mjs', { args: [provider] });
  return {
    raw: { name: 'raw', ...raw },
    rawAgain: { name: 'raw again', ...rawAgain },
    gateway: { name: 'gateway', ...(await startRerank(provider)) },
    limited: { name: 'gateway + policy', ...(await startRerank(provider, POLICY)) },
  };
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

/** Measures and prints one table; returns what `figureOf` makes of its slices. */
async function compare(servers, form, { rounds, sliceMs, warmUpMs }, figureOf) {
  const body = rerankBody(form);
  const subjects = [];
  for (const server of servers) {
    subjects.push({ ...server, load: await Load.open(server.url, { ...server, body, concurrency: CONCURRENCY }) });
  }
  await warmUp(subjects, warmUpMs);
  const slices = await measure(subjects, { rounds, sliceMs });
  for (const { load } of subjects) load.close();

  console.log(`\n${form.name}${figureOf === gatewayToRaw ? ` (target ≤ ${TARGETS.get(form)} × raw)` : ''}`);
  printTable(slices, 'requests');
  return figureOf(slices);
}

function gatewayToRaw(slices) {
  return [ratioOf, ratioWithDatabase].map((ratio) => ratio(slices.get('gateway'), floorOf(slices)));
}

function addedByLimit(slices) {
  return differenceOf(slices.get('gateway + policy'), slices.get('gateway'));
}
