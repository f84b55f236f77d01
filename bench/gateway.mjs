// The built gateway as a process of its own: a fresh database, and what its caller needs made through its API, as an operator
// would make it.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './processes.mjs';

const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const START_MS = 200_000;
/** As `npm start` runs it. */
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const START_FLAGS = scripts.start.split(' ').filter((word) => word.startsWith('--'));
const [, UV_THREADPOOL_SIZE] = /UV_THREADPOOL_SIZE:-(\d+)/.exec(scripts.start);

/**
 * Starts a gateway; returns its process, its address, its admin key, the headers of a caller that may use `providerUrl`.
 * @param settings of its database
 * @param policy a usage limit that the caller falls under
 * @param provider of the virtual keys
 * @param addresses one virtual key for each of them: `callers` has the headers for each
 */
export async function startGateway(
  providerUrl,
  { settings, policy, provider = 'cohere', addresses = [providerUrl], nodeOptions = [] },
) {
  const { child, url, admin, adminKey, workspace } = await startEmpty(settings, nodeOptions);
  const apiKey = await makeKey(admin, workspace, 'completions.write');
  const callers = [];
  for (const [index, address] of addresses.entries()) {
    const virtualKey = await admin('/v1/virtual-keys', {
      name: `Fake provider ${index + 1}`,
      provider,
      key: 'not-a-secret',
      workspace_id: workspace.slug,
      // By name, as providers have one.
      config: { base_url: byName(address) },
    });
    callers.push({ 'x-gateway-api-key': apiKey.key, 'x-gateway-virtual-key': virtualKey.slug });
  }
  if (policy !== undefined) await admin('/v1/policies/usage-limits', policy);
  return { child, url, headers: callers[0], callers, adminKey };
}

/**
 * A gateway before an MCP server that wants a signed identity, and of which one tool is disabled, so that every message is
 * judged. Returns its process, the server's address at the gateway, and the headers of a caller with a key.
 * @param validation `jwt_validation` of the server
 */
export async function startMcpGateway(serverUrl, { settings, validation, nodeOptions = [] }) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const JWT_PRIVATE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const { child, url, admin, workspace } = await startEmpty({ ...settings, JWT_PRIVATE_KEY }, nodeOptions);
  const apiKey = await makeKey(admin, workspace, 'mcp.invoke');
  await admin('/v1/mcp-servers', {
    name: 'Tools',
    slug: 'tools',
    url: byName(serverUrl),
    user_identity_forwarding: { method: 'jwt_header' },
    jwt_validation: { ...validation, jwksUri: byName(validation.jwksUri) },
  });
  await admin('/v1/mcp-servers/tools/tools', { tools: [{ name: 'forbidden', enabled: false }] }, put);
  return { child, url: `${url}/tools/mcp`, headers: { 'x-gateway-api-key': apiKey.key } };
}

async function startEmpty(settings, nodeOptions) {
  const { generateApiKey } = await import('../dist/src/api-keys/api-key-format.js');
  const adminKey = generateApiKey();
  const port = await freePort();
  const child = start(MAIN, {
    nodeOptions: [...START_FLAGS, ...nodeOptions],
    env: {
      UV_THREADPOOL_SIZE,
      HOST: '127.0.0.1',
      PORT: String(port),
      EGRESS_ALLOW: 'localhost',
      TOLLGATE_ADMIN_KEY: adminKey,
      TOLLGATE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ...settings,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, child);
  const admin = (path, body, send = post) => send(url + path, { 'x-gateway-api-key': adminKey }, body);
  const workspace = await admin('/v1/workspaces', { name: 'Benchmark' });
  return { child, url, admin, adminKey, workspace };
}

function makeKey(admin, workspace, scope) {
  const fields = { name: 'benchmark', workspace_id: workspace.slug, level: 'workspace', type: 'service' };
  return admin('/v1/api-keys', { ...fields, scopes: [scope] });
}

const byName = (url) => url.replace('127.0.0.1', 'localhost');

/** One answer, as JSON. Fails for every status but 2xx. */
export async function post(url, headers, body) {
  return answerOf(await fetch(url, { method: 'POST', ...message(headers, body) }));
}

async function put(url, headers, body) {
  return answerOf(await fetch(url, { method: 'PUT', ...message(headers, body) }));
}

function message(headers, body) {
  return {
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  };
}

async function answerOf(response) {
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(response.url).pathname} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

async function untilReady(url, child) {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error('the gateway did not start');
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(100);
  }
  throw new Error(`the gateway was not ready within ${START_MS} ms`);
}

export function freePort() {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
