// `node bench/coverage-of-a-call.mjs`: the files and functions of ours that one warm POST /v1/rerank runs through.
//   --list    names them, by file
//   --check   ends with code 1 when there are more than the targets
//
// How it counts: a built gateway with a fake provider on loopback, a cohere virtual key, no usage limit. After a warm-up, V8's
// precise coverage (Profiler.startPreciseCoverage, callCount) is read right before and right after single calls, in the
// gateway's own process. Counted is each function of dist/src, nested, anonymous and initialisers of class fields included,
// that ran between the two in every one of the calls; so a timer that fires now and then is left out. What runs after the
// client has the answer (the batch that writes the ledger) is not part of the call.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { startGateway } from './gateway.mjs';
import { messageOf, startServer, stopAll } from './processes.mjs';
import { rerankBody, SMALL } from './rerank-bodies.mjs';

const WARM_UP = 300;
const CALLS = 7;
const TARGETS = { files: 80, functions: 250 };
const PRELOAD = new URL('./coverage-child.mjs', import.meta.url).href;

let database;
try {
  await buildIfStale();
  const { url: provider } = await startServer('./fake-provider.mjs');
  database = await makeDatabase(process.env.DATABASE_URL, 2);
  const gateway = await startGateway(provider, { settings: database.settings, nodeOptions: [`--import=${PRELOAD}`] });
  const call = callerOf(`${gateway.url}/v1/rerank`, gateway.headers);
  for (let at = 0; at < WARM_UP; at += 1) await call();
  const runs = [];
  for (let at = 0; at < CALLS; at += 1) runs.push(await coverageOf(gateway.child, call));
  print(inEveryRun(runs));
} catch (error) {
  console.error(`The count failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  await database?.drop();
  process.exit();
}

function callerOf(url, headers) {
  const body = rerankBody(SMALL);
  return async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
  };
}

/** The functions that ran during one call: `file` tab `name@offset`. */
async function coverageOf(child, call) {
  await take(child);
  await call();
  return new Set(await take(child));
}

async function take(child) {
  child.send('coverage');
  const { coverage } = await messageOf(child, 'coverage');
  return coverage;
}

function inEveryRun([first, ...others]) {
  const inAll = [...first].filter((name) => others.every((run) => run.has(name)));
  return inAll.sort((one, other) => one.localeCompare(other));
}

function print(functions) {
  const files = groupBy(functions, fileOf);
  if (process.argv.includes('--list')) {
    for (const [file, names] of files) {
      console.log(`${file} (${names.length}): ${names.map((name) => name.split('\t')[1]).join(' ')}`);
    }
  }
  console.log(`files: ${files.size} (target ≤ ${TARGETS.files})`);
  console.log(`functions: ${functions.length} (target ≤ ${TARGETS.functions})`);
  const isMet = files.size <= TARGETS.files && functions.length <= TARGETS.functions;
  if (process.argv.includes('--check') && !isMet) process.exitCode = 1;
}

function fileOf(name) {
  return name.split('\t')[0];
}

/** In place of Map.groupBy, which Node 20 lacks. */
function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
