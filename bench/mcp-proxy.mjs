// `node bench/mcp-proxy.mjs`: what an MCP call costs over a bare byte proxy, in one run on one machine: CPU of the process per
// call. First the proxy of the gateway alone, then the whole gateway: router, caller, identity, session, inspection, metrics,
// the log of calls and the usage. Last, memory per open stream.
//   --check          ends with code 1 when a ratio is above the target
//   --streams=5000   how many streams are opened for the last part
//   DATABASE_URL=postgres://… node bench/mcp-proxy.mjs    with a database of its own on that server; else an embedded one
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { startMcpGateway } from './gateway.mjs';
import { startIssuer } from './issuer.mjs';
import { Load } from './load.mjs';
import { floorOf, measure, printTable, ratioOf, ratioWithDatabase, warmUp } from './measure.mjs';
import { startServer, stopAll } from './processes.mjs';

const TARGET = 3;
const CONCURRENCY = 32;
const POOL_SIZE = 10;
const NODE_OPTIONS = ['--max-semi-space-size=64'];
/** The gateway writes its rows after the answer: the pause between two slices belongs to the calls before it. */
const PLAN = { rounds: 5, sliceMs: 1_000, settleMs: 700, warmUpMs: 10_000 };
const STREAMS = Number(/--streams=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 5_000);
const BODY = Buffer.from(
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'x'.repeat(400) } },
  }),
);
const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };

let database;

try {
  await buildIfStale();
  const { upstream, servers } = await startServers();
  const ratios = await compareCalls(servers, upstream);
  if (STREAMS > 0) await measureStreams(servers[1]);
  for (const [name, ratio, withDatabase] of ratios) {
    const all = withDatabase === ratio ? '' : `; ${withDatabase.toFixed(2)} with what the embedded database does`;
    console.log(`${name} to raw: ${ratio.toFixed(2)} (target ≤ ${TARGET})${all}`);
  }
  if (process.argv.includes('--check') && ratios.some(([, ratio]) => ratio > TARGET)) process.exitCode = 1;
} catch (error) {
  console.error(`The benchmark failed: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  await database?.drop();
  process.exit();
}

async function startServers() {
  const { url: upstream } = await startServer('./mcp-server.mjs', { nodeOptions: NODE_OPTIONS });
  const target = `${upstream}/mcp`;
  const options = { args: [target], nodeOptions: NODE_OPTIONS };
  const [raw, rawAgain] = [
    await startServer('./raw-proxy.mjs', options),
    await startServer('./raw-proxy.mjs', options),
  ];
  const proxy = await startServer('./mcp-proxy-server.mjs', options);
  const issuer = await startIssuer();
  database = await makeDatabase(process.env.DATABASE_URL, POOL_SIZE);
  const gateway = await startMcpGateway(target, { ...database, validation: issuer.validation });
  const servers = [
    { name: 'raw', ...raw, url: `${raw.url}/mcp` },
    { name: 'mcp proxy', ...proxy, url: `${proxy.url}/mcp` },
    { name: 'gateway, key', ...gateway },
    { name: 'gateway, token', ...gateway, headers: { authorization: `Bearer ${issuer.token}` } },
    { name: 'raw again', ...rawAgain, url: `${rawAgain.url}/mcp` },
  ];
  return { upstream, servers };
}

/** Loads a server within a session, as clients do, if a call through it comes whole to the MCP server behind it. */
async function openLoad({ name, url, headers: own }, upstream) {
  const headers = { ...HEADERS, ...own };
  const { headers: answered, status } = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: BODY,
  });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  const received = await (await fetch(`${upstream}/received`)).text();
  if (received !== BODY.toString()) throw new Error(`${name} passed ${received.length} of ${BODY.length} bytes`);
  const session = answered.get('mcp-session-id');
  const all = session === null ? headers : { ...headers, 'mcp-session-id': session };
  return Load.open(url, { headers: all, body: BODY, concurrency: CONCURRENCY });
}

/** Prints the table; returns how many times the CPU of the raw proxy a call needs, by name, without and with the database's. */
async function compareCalls(servers, upstream) {
  const subjects = [];
  for (const server of servers) {
    subjects.push({ ...server, load: await openLoad(server, upstream) });
  }
  await warmUp(subjects, PLAN.warmUpMs);
  const slices = await measure(subjects, PLAN);
  for (const { load } of subjects) load.close();
  console.log(
    `Node ${process.versions.node}, ${CONCURRENCY} connections, calls of ${BODY.length} bytes answered by JSON; ${database.name}`,
  );
  printTable(slices, 'calls');
  return subjects
    .filter(({ name }) => !name.startsWith('raw'))
    .map(({ name }) => [
      name,
      ...[ratioOf, ratioWithDatabase].map((ratio) => ratio(slices.get(name), floorOf(slices))),
    ]);
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
  console.log(
    `\n${sockets.length} open streams: ${perStream} KiB of resident memory each (${before} → ${after} KiB)\n`,
  );
  for (const socket of sockets) socket.destroy();
}

/** A GET whose head has come. */
function openStream(url) {
  const { hostname, port, host, pathname } = new URL(url);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`);
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
