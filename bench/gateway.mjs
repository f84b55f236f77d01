// The built gateway as a process of its own: a fresh database, and a workspace key and a virtual key made through its API,
// as an operator would make them.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './processes.mjs';

const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const START_MS = 30_000;
/** As `npm start` runs it. */
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const START_FLAGS = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/**
 * Starts a gateway; returns its process, its address, and the headers of a caller that may use `providerUrl`.
 * @param settings of its database
 * @param policy a usage limit that the caller falls under
 */
export async function startGateway(providerUrl, { settings, policy, nodeOptions = [] }) {
  const { generateApiKey } = await import('../dist/src/api-keys/api-key-format.js');
  const adminKey = generateApiKey();
  const port = await freePort();
  const child = start(MAIN, {
    nodeOptions: [...START_FLAGS, ...nodeOptions],
    env: {
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
  const admin = (path, body) => post(url + path, { 'x-gateway-api-key': adminKey }, body);
  const workspace = await admin('/v1/workspaces', { name: 'Benchmark' });
  const apiKey = await admin('/v1/api-keys', {
    name: 'benchmark',
    workspace_id: workspace.slug,
    level: 'workspace',
    type: 'service',
    scopes: ['completions.write'],
  });
  const virtualKey = await admin('/v1/virtual-keys', {
    name: 'Fake provider',
    provider: 'cohere',
    key: 'not-a-secret',
    workspace_id: workspace.slug,
    // By name, as providers have one.
    config: { base_url: providerUrl.replace('127.0.0.1', 'localhost') },
  });
  if (policy !== undefined) await admin('/v1/policies/usage-limits', policy);
  return { child, url, headers: { 'x-gateway-api-key': apiKey.key, 'x-gateway-virtual-key': virtualKey.slug } };
}

/** One answer, as JSON. Fails for every status but 2xx. */
export async function post(url, headers, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${new URL(url).pathname} answered ${response.status}: ${text}`);
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

function freePort() {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
