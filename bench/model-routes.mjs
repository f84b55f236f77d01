// `node bench/model-routes.mjs`: what a model route adds to a call, and what a translated stream costs, in CPU of the gateway.
//   --check    ends with code 1 when a figure is above its target
//   DATABASE_URL=postgres://… node bench/model-routes.mjs    with a database of its own on that server; else an embedded one
import { buildIfStale } from '../scripts/build.mjs';
import { chatBody, EVENTS } from './chat-bodies.mjs';
import { makeDatabase } from './database.mjs';
import { post, startGateway } from './gateway.mjs';
import { Load } from './load.mjs';
import { differenceOf, floorOf, measure, printTable, ratioOf, warmUp } from './measure.mjs';
import { startServer, stopAll } from './processes.mjs';

const CONCURRENCY = 32;
const POOL_SIZE = 10;
const PLAN = { rounds: 6, sliceMs: 1_000, warmUpMs: 2_000 };
const TARGETS = { routeMicroseconds: 5, translatedRatio: 4 };
const BYTES = 4_096;
const ROUTE = 'bench-route';
const TRANSLATED = 'bench-translated';

let database;

try {
  await buildIfStale();
  const { url: provider } = await startServer('./chat-provider.mjs');
  database = await makeDatabase(process.env.DATABASE_URL, POOL_SIZE);
  const [whole, stream] = ['/whole', '/stream'].map((path) => provider + path);
  const gateway = await startGateway(provider, {
    settings: { ...database.settings, MAX_CONNECTIONS_PER_ADDRESS: '10000', PROVIDER_CONNECTIONS_PER_ORIGIN: '10000' },
    provider: 'openai-compatible',
    addresses: [whole, stream],
  });
  const slugs = gateway.callers.map((headers) => headers['x-gateway-virtual-key']);
  const { model } = JSON.parse(chatBody({ bytes: BYTES }));
  // Four models of one virtual key: four virtual keys have four times the connections, which cost the same without a route.
  const models = [1, 2, 3, 4].map((number) => `${model}-${number}`);
  await makeRoute(
    gateway,
    ROUTE,
    models.map((each) => ({ virtual_key: slugs[0], model: each })),
  );
  await makeRoute(gateway, TRANSLATED, [{ virtual_key: slugs[1], model }]);
  const { 'x-gateway-api-key': key } = gateway.callers[0];
  const ofRoute = { 'x-gateway-api-key': key };
  const chat = `${gateway.url}/v1/chat/completions`;

  console.log(
    `Node ${process.versions.node}, ${CONCURRENCY} connections; ${database.name}; CPU of the server per call`,
  );
  const body4KB = chatBody({ bytes: BYTES });
  // Calls of four models are four groups in the ledger, with a route and without one.
  const direct = {
    ...gateway,
    url: chat,
    headers: gateway.callers[0],
    bodies: models.map((each) => renamed(body4KB, each)),
  };
  const routed = await compare('a chat of 4 KB, with four models of a virtual key, and by a route to them', [
    { name: 'virtual key', ...direct },
    { name: 'route', ...gateway, url: chat, headers: ofRoute, body: renamed(body4KB, ROUTE) },
    { name: 'virtual key again', ...direct },
  ]);
  const added = differenceOf(routed.get('route'), halfway(routed.get('virtual key'), routed.get('virtual key again')));

  const body = chatBody({ bytes: BYTES, stream: true });
  const raw = await startServer('./raw-proxy.mjs', { args: [`${stream}/chat/completions`] });
  const messages = `${gateway.url}/v1/messages`;
  const streams = await compare(`a stream of ${EVENTS} events, translated from chat to messages`, [
    { name: 'raw', ...raw, body },
    { name: 'translated', ...gateway, url: messages, headers: ofRoute, body: messagesBody(body) },
  ]);
  const ratio = ratioOf(streams.get('translated'), floorOf(streams));
  console.log(`\na route of four targets: ${added.toFixed(1)} µs more (target ≤ ${TARGETS.routeMicroseconds})`);
  console.log(`a translated stream: ${ratio.toFixed(2)} × raw (target ≤ ${TARGETS.translatedRatio})`);
  const isMet = added <= TARGETS.routeMicroseconds && ratio <= TARGETS.translatedRatio;
  if (process.argv.includes('--check') && !isMet) process.exitCode = 1;
} catch (error) {
  console.error(`The benchmark failed: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  await database?.drop();
  process.exit();
}

function makeRoute({ url, adminKey }, name, targets) {
  const weighted = targets.map((target) => ({ ...target, weight: 1 }));
  return post(`${url}/v1/model-routes`, { 'x-gateway-api-key': adminKey }, { name, targets: weighted });
}

function renamed(body, model) {
  return Buffer.from(JSON.stringify({ ...JSON.parse(body), model }));
}

/** The same conversation as a request of Anthropic's API. */
function messagesBody(chat) {
  const { messages, max_completion_tokens } = JSON.parse(chat);
  return Buffer.from(JSON.stringify({ model: TRANSLATED, max_tokens: max_completion_tokens, stream: true, messages }));
}

async function compare(title, servers) {
  const subjects = [];
  for (const server of servers)
    subjects.push({ ...server, load: await Load.open(server.url, { ...server, concurrency: CONCURRENCY }) });
  await warmUp(subjects, PLAN.warmUpMs);
  const slices = await measure(subjects, PLAN);
  for (const { load } of subjects) load.close();
  console.log(`\n${title}`);
  printTable(slices, 'calls');
  return slices;
}

function halfway(one, other) {
  return one.map(({ microseconds }, index) => ({ microseconds: (microseconds + other[index].microseconds) / 2 }));
}
