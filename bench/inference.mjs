// `node bench/inference.mjs`: what calls of models cost over a proxy that only passes bytes on, in one run on one machine: CPU of
// the process per call, and memory per open stream.
//   --check          ends with code 1 when a figure is above its target
//   --streams=1000   how many streams are opened for the last part
//   --peer           measures Portkey's gateway too, but for streams, which its version 1.15.2 answers with 500 here
//   DATABASE_URL=postgres://… node bench/inference.mjs    with a database of its own on that server; else an embedded one
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from '../scripts/build.mjs';
import { chatBody, FORMS } from './chat-bodies.mjs';
import { makeDatabase } from './database.mjs';
import { startGateway } from './gateway.mjs';
import { Load } from './load.mjs';
import { floorOf, measure, printTable, ratioOf, ratioWithDatabase, warmUp } from './measure.mjs';
import { startPortkey } from './peers/portkey.mjs';
import { startServer, stopAll } from './processes.mjs';

const CONCURRENCY = 32;
const POOL_SIZE = 10;
const PLAN = { rounds: 4, sliceMs: 1_000, warmUpMs: 2_000 };
const HOLD = '/hold';
const MEMORY_TARGET_KIB = 40;
const STREAMS = Number(/--streams=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 1_000);

let database;

try {
  await buildIfStale();
  const { url: provider } = await startServer('./chat-provider.mjs');
  database = await makeDatabase(process.env.DATABASE_URL, POOL_SIZE);
  const paths = [...new Set(FORMS.map(({ path }) => path)), HOLD];
  const gateway = await startGateway(provider, {
    settings: { ...database.settings, MAX_CONNECTIONS_PER_ADDRESS: '10000', PROVIDER_CONNECTIONS_PER_ORIGIN: '10000' },
    provider: 'openai',
    addresses: paths.map((path) => provider + path),
  });
  const headersFor = (path) => gateway.callers[paths.indexOf(path)];
  const portkey = process.argv.includes('--peer') ? await startPortkey() : undefined;
  console.log(
    `Node ${process.versions.node}, ${CONCURRENCY} connections; ${database.name}; CPU of the server per call`,
  );
  const figures = [];
  for (const form of FORMS) {
    const target = `${provider}${form.path}/chat/completions`;
    const raws = [
      await startServer('./raw-proxy.mjs', { args: [target] }),
      await startServer('./raw-proxy.mjs', { args: [target] }),
    ];
    const servers = [
      { name: 'raw', ...raws[0] },
      { name: 'gateway', ...gateway, url: `${gateway.url}/v1/chat/completions`, headers: headersFor(form.path) },
      ...(portkey === undefined || form.stream === true
        ? []
        : [{ name: 'portkey', ...portkey.for(provider + form.path) }]),
      { name: 'raw again', ...raws[1] },
    ];
    figures.push([form, await compare(form, servers)]);
    for (const { child } of raws) child.kill();
  }
  const kib = STREAMS > 0 ? await memoryOfStreams(gateway, headersFor(HOLD)) : 0;
  console.log('');
  for (const [{ name, target }, [ratio, withDatabase]] of figures) {
    const all = withDatabase === ratio ? '' : `; ${withDatabase.toFixed(2)} with what the embedded database does`;
    console.log(`${name}: ${ratio.toFixed(2)} × raw (target ≤ ${target})${all}`);
  }
  if (STREAMS > 0) console.log(`an open stream: ${kib.toFixed(1)} KiB (target ≤ ${MEMORY_TARGET_KIB})`);
  const isMet = figures.every(([{ target }, [ratio]]) => ratio <= target) && kib <= MEMORY_TARGET_KIB;
  if (process.argv.includes('--check') && !isMet) process.exitCode = 1;
} catch (error) {
  console.error(`The benchmark failed: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  await database?.drop();
  process.exit();
}

/** Prints a table; returns how many times the CPU of the raw proxy a call needs, without and with the database's. */
async function compare(form, servers) {
  const body = chatBody(form);
  const subjects = [];
  for (const server of servers) {
    subjects.push({ ...server, load: await Load.open(server.url, { ...server, body, concurrency: CONCURRENCY }) });
  }
  await warmUp(subjects, PLAN.warmUpMs);
  const slices = await measure(subjects, PLAN);
  for (const { load } of subjects) load.close();
  console.log(`\n${form.name} (target ≤ ${form.target} × raw)`);
  printTable(slices, 'calls');
  return [ratioOf, ratioWithDatabase].map((ratio) => ratio(slices.get('gateway'), floorOf(slices)));
}

/** KiB of resident memory for each open stream. Linux only. */
async function memoryOfStreams({ child, url }, headers) {
  await sleep(1_000);
  const before = rssKib(child.pid);
  const body = chatBody({ bytes: 4_096, stream: true });
  const sockets = [];
  for (let opened = 0; opened < STREAMS; opened += 50) {
    const some = Array.from({ length: Math.min(50, STREAMS - opened) }, () => openStream(url, headers, body));
    sockets.push(...(await Promise.all(some)));
  }
  await sleep(2_000);
  const after = rssKib(child.pid);
  console.log(`\n${sockets.length} open streams: ${before} → ${after} KiB`);
  for (const socket of sockets) socket.destroy();
  return (after - before) / sockets.length;
}

/** A chat whose first event has come. */
function openStream(url, headers, body) {
  const { hostname, port, host } = new URL(url);
  const fields = { host, 'content-type': 'application/json', ...headers, 'content-length': body.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((done, fail) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n`);
      socket.write(body);
    });
    socket.once('error', fail);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.startsWith('HTTP/1.1 200')) fail(new Error(`unexpected answer: ${text}`));
      else if (text.includes('data: ')) done(socket);
    });
  });
}

function rssKib(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
