// Whether calls that hang under one virtual key slow down those of another at the same provider address.
//   node bench/fair-share.mjs           prints the table
//   node bench/fair-share.mjs --check   ends with code 1 when the 95th percentile moves by more than a fifth
// How to read it: bench/README.md.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { startGateway } from './gateway.mjs';
import { startServer, stopAll } from './processes.mjs';

const HANG_MS = 10_000;
const GOOD_PER_SECOND = 40;
/** Long enough for each hanging call to have another in its place. */
const FILL_MS = 11_000;
const MEASURE_MS = 12_000;
/** Calls that hang, by second. The last fills the share of a virtual key: two thirds of 1,024 connections. */
const HANGING = [20, 40, 120];
const MOST_MORE = 1.2;

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
let database;

try {
  await buildIfStale();
  database = await makeDatabase(process.env.DATABASE_URL, 10);
  const { url: provider } = await startServer('./slow-provider.mjs', { args: [String(HANG_MS)] });
  const gateway = await startGateway(provider, { settings: database.settings, addresses: [provider, provider] });
  const [good, hanging] = gateway.callers;
  const url = `${gateway.url}/v1/rerank`;
  await load(url, good, 'good', GOOD_PER_SECOND, 5_000);

  console.log(row(['hanging calls a second', 'answers', 'refused', 'p50 ms', 'p95 ms', 'p95 alone', 'ratio']));
  for (const perSecond of HANGING) {
    const alone = await load(url, good, 'good', GOOD_PER_SECOND, MEASURE_MS);
    const noise = load(url, hanging, 'hangs', perSecond, FILL_MS + MEASURE_MS);
    await sleep(FILL_MS);
    const beside = await load(url, good, 'good', GOOD_PER_SECOND, MEASURE_MS);
    const { refused } = await noise;
    const ratio = beside.p95 / alone.p95;
    const figures = [beside.p50, beside.p95, alone.p95, ratio].map((figure) => figure.toFixed(2));
    console.log(row([perSecond, beside.answers, refused, ...figures]));
    const isMet = ratio <= MOST_MORE && beside.refused === 0;
    if (process.argv.includes('--check') && !isMet) process.exitCode = 1;
  }
} catch (error) {
  console.error(`The benchmark failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  agent.destroy();
  await stopAll();
  await database?.drop();
  process.exit();
}

/** Sends at a fixed rate, whatever the answers take; waits for the last one. Milliseconds of answers with 200. */
async function load(url, headers, model, perSecond, ms) {
  const body = JSON.stringify({ model, query: 'q', documents: ['a'] });
  const calls = [];
  const startedAt = performance.now();
  for (let index = 0; index < (perSecond * ms) / 1_000; index += 1) {
    const dueMs = startedAt + (index * 1_000) / perSecond - performance.now();
    if (dueMs > 0) await sleep(dueMs);
    calls.push(send(url, headers, body));
  }
  const all = await Promise.all(calls);
  const taken = all.filter(({ status }) => status === 200).map(({ tookMs }) => tookMs);
  taken.sort((a, b) => a - b);
  const at = (share) => taken[Math.floor((taken.length - 1) * share)] ?? NaN;
  return { answers: taken.length, refused: all.length - taken.length, p50: at(0.5), p95: at(0.95) };
}

function send(url, headers, body) {
  return new Promise((done, fail) => {
    const startedAt = performance.now();
    const sent = request(url, { agent, method: 'POST', headers: { ...headers, 'content-type': 'application/json' } });
    sent.on('error', fail);
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => done({ status: response.statusCode, tookMs: performance.now() - startedAt }));
    });
    sent.end(body);
  });
}

function row([name, ...cells]) {
  return String(name).padEnd(24) + cells.map((cell) => String(cell).padStart(12)).join('');
}
