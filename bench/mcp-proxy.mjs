// `node bench/mcp-proxy.mjs`: what the MCP proxy costs over a bare byte proxy, both in one run on one machine: CPU of the
// process per call, and memory per open stream.
//   --check          ends with code 1 when the ratio is above the target
//   --streams=5000   how many streams are opened for the second part
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from '../scripts/build.mjs';
import { Load } from './load.mjs';
import { measure, ratioOf, summaryOf, warmUp } from './measure.mjs';
import { addressOf, start, stopAll } from './processes.mjs';

const TARGET = 2.5;
const CONCURRENCY = 32;
const PLAN = { rounds: 5, sliceMs: 1_000, warmUp: { requests: 20_000, ms: 5_000 } };
const STREAMS = Number(/--streams=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 5_000);
const BODY = Buffer.from(
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'x'.repeat(400) } },
  }),
);
const HEADERS = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
  'mcp-session-id': '7f3d0c1e-6f0e-4d9c-9d8e-0d7d3f6c1a2b',
};

try {
  await buildIfStale();
  const upstream = await startScript('./mcp-server.mjs');
  const servers = [
    { name: 'raw', ...(await startScript('./raw-proxy.mjs', `${upstream.url}/mcp`)) },
    { name: 'mcp proxy', ...(await startScript('./mcp-proxy-server.mjs', `${upstream.url}/mcp`)) },
    { name: 'raw again', ...(await startScript('./raw-proxy.mjs', `${upstream.url}/mcp`)) },
  ];
  const ratio = await compareCalls(servers);
  if (STREAMS > 0) await measureStreams(servers[1]);
  console.log(`\nratio to raw pass-through: ${ratio.toFixed(2)} (target ≤ ${TARGET})`);
  if (process.argv.includes('--check') && ratio > TARGET) process.exitCode = 1;
} catch (error) {
  console.error(`The benchmark failed: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  process.exit();
}

async function startScript(file, ...args) {
  const child = start(new URL(file, import.meta.url).pathname, { args, nodeOptions: ['--max-semi-space-size=32'] });
  return { child, url: await addressOf(child) };
}

/** Prints the table; returns how many times the CPU of the raw proxy a call needs. */
async function compareCalls(servers) {
  const subjects = [];
  for (const server of servers) {
    const load = await Load.open(`${server.url}/mcp`, { headers: HEADERS, body: BODY, concurrency: CONCURRENCY });
    subjects.push({ ...server, load });
  }
  await warmUp(subjects, PLAN.warmUp);
  const slices = await measure(subjects, PLAN);
  for (const { load } of subjects) load.close();
  console.log(
    `Node ${process.versions.node}, ${CONCURRENCY} connections, calls of ${BODY.length} bytes answered by JSON`,
  );
  console.log(row(['', 'µs', '× raw', 'p50 ms', 'p99 ms', 'calls']));
  for (const [name, own] of slices) {
    const { microseconds, p50, p99, requests } = summaryOf(own);
    const ratio = ratioOf(own, slices.get('raw')).toFixed(2);
    console.log(row([name, microseconds.toFixed(1), ratio, p50.toFixed(2), p99.toFixed(2), requests]));
  }
  return ratioOf(slices.get('mcp proxy'), slices.get('raw'));
}

async function measureStreams({ child, url }) {
  await sleep(1_000);
  const before = rssKb(child.pid);
  const sockets = [];
  for (let opened = 0; opened < STREAMS; opened += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, STREAMS - opened) }, () => openStream(url)))));
  }
  await sleep(2_000);
  const after = rssKb(child.pid);
  const perStream = ((after - before) / sockets.length).toFixed(1);
  console.log(`\n${sockets.length} open streams: ${perStream} KiB of resident memory each (${before} → ${after} KiB)`);
  for (const socket of sockets) socket.destroy();
}

/** A GET whose head has come. */
function openStream(url) {
  const { hostname, port, host } = new URL(url);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /mcp HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`);
    });
    socket.once('error', fail);
    socket.once('data', (head) => {
      if (head.toString('latin1', 0, 12) === 'HTTP/1.1 200') return done(socket);
      fail(new Error(`unexpected answer: ${head.toString()}`));
    });
  });
}

/** Linux only. */
function rssKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function row([name, ...cells]) {
  return name.padEnd(12) + cells.map((cell) => String(cell).padStart(10)).join('');
}
