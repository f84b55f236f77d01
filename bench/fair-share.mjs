// Whether calls that hang under one virtual key slow down those of another at the same provider address.
//   node bench/fair-share.mjs           prints the table
//   node bench/fair-share.mjs --check   ends with code 1 when the 95th percentile moves by more than a fifth, or the queue is longer
//                                       than 1 ms
// How to read it: bench/README.md.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { post, startGateway } from './gateway.mjs';
import { startServer, stopAll } from './processes.mjs';

const HANG_MS = 10_000;
const GOOD_PER_SECOND = 40;
/** Long enough for each hanging call to have another in its place. */
const FILL_MS = 11_000;
const MEASURE_MS = 12_000;
/** Calls that hang, by second. The last fills the share of a virtual key: two thirds of 1,024 connections. */
const HANGING = [20, 40, 120];
const MOST_MORE = 1.2;
/** Mean wait of a good call for a connection. */
const MOST_QUEUED_MS = 1;

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
let database;

try {
  await buildIfStale();
  database = await makeDatabase(process.env.DATABASE_URL, 10);
  const slow = () => startServer('./slow-provider.mjs', { args: [String(HANG_MS)] });
  const [{ url: shared }, { url: apart }] = await Promise.all([slow(), slow()]);
  // All callers of the benchmark have one address.
  const settings = { ...database.settings, MAX_CONNECTIONS_PER_ADDRESS: 10_000 };
  const gateway = await startGateway(shared, { settings, addresses: [shared, apart] });
  const [beside, control] = gateway.callers;
  const hanging = await addHangingKey(gateway, shared);
  const url = `${gateway.url}/v1/rerank`;
  await load(url, [beside, control], 'good', GOOD_PER_SECOND, 5_000);

  console.log(
    row(['hanging calls a second', 'answers', 'refused', 'p50 ms', 'p95 ms', 'p95 apart', 'ratio', 'queue ms']),
  );
  for (const perSecond of HANGING) {
    const noise = load(url, [hanging], 'hangs', perSecond, FILL_MS + MEASURE_MS);
    await sleep(FILL_MS);
    const queuedBefore = await queuedMs(gateway);
    const [good, other] = await load(url, [beside, control], 'good', GOOD_PER_SECOND, MEASURE_MS);
    const queuedEach = ((await queuedMs(gateway)) - queuedBefore) / good.answers;
    await noise;
    const ratio = good.p95 / other.p95;
    const figures = [good.p50, good.p95, other.p95, ratio, queuedEach].map((figure) => figure.toFixed(2));
    console.log(row([perSecond, good.answers, good.refused, ...figures]));
    const isMet = ratio <= MOST_MORE && good.refused === 0 && queuedEach <= MOST_QUEUED_MS;
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

/** Of another provider, so that the metrics show its calls apart from the good ones. */
async function addHangingKey({ url, adminKey, callers: [{ 'x-gateway-api-key': apiKey }] }, provider) {
  const config = { base_url: provider.replace('127.0.0.1', 'localhost') };
  const fields = { name: 'Hanging', slug: 'hanging', provider: 'openai-compatible', config };
  await post(`${url}/v1/virtual-keys`, { 'x-gateway-api-key': adminKey }, fields);
  return { 'x-gateway-api-key': apiKey, 'x-gateway-virtual-key': 'hanging' };
}

/** How long good calls have waited for a connection so far, as the metrics say. */
async function queuedMs({ url }) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, seconds = 0] = /^gateway_upstream_queue_seconds_sum{provider="cohere"} (.+)$/m.exec(text) ?? [];
  return Number(seconds) * 1_000;
}

/**
 * Sends at a fixed rate, whatever the answers take; waits for the last one. All callers send at the same moments, so that the
 * noise of the machine meets them alike. Milliseconds of answers with 200, for each caller.
 */
async function load(url, callers, model, perSecond, ms) {
  const body = JSON.stringify({ model, query: 'q', documents: ['a'] });
  const calls = callers.map(() => []);
  const startedAt = performance.now();
  for (let index = 0; index < (perSecond * ms) / 1_000; index += 1) {
    const dueMs = startedAt + (index * 1_000) / perSecond - performance.now();
    if (dueMs > 0) await sleep(dueMs);
    // Each is the first one in turn.
    for (let turn = 0; turn < callers.length; turn += 1) {
      const caller = (index + turn) % callers.length;
      calls[caller].push(send(url, callers[caller], body));
    }
  }
  return Promise.all(calls.map(async (own) => summaryOf(await Promise.all(own))));
}

function summaryOf(all) {
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
