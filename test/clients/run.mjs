// Calls a running gateway with other people's clients, each as its users would: a new address, a gateway key, and a
// model with the virtual key before it. The last line is "N passed, M failed".
//   npm ci && node run.mjs [root of the repository]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProvider } from './fake-provider.mjs';
import { CHAT_CLIENTS } from './chat-clients.mjs';
import { OPENAI_CLIENTS } from './openai-clients.mjs';
import { RERANK_CLIENTS } from './rerank-clients.mjs';

const START_MS = 60_000;
const CASE_MS = 15_000;

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-clients-'));
execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root, stdio: 'inherit' });
const provider = await startProvider();
const gateway = spawn(process.execPath, [path.join(root, 'dist/src/main.js')], {
  cwd: folder,
  env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, EGRESS_ALLOW: '127.0.0.1' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

let passed = 0;
let failed = 0;
try {
  const { url, adminKey } = await started(gateway);
  const context = await prepare(url, adminKey);
  for (const { title, run } of [...RERANK_CLIENTS, ...OPENAI_CLIENTS, ...CHAT_CLIENTS]) {
    provider.calls.length = 0;
    try {
      await within(CASE_MS, run({ ...context, sent: () => provider.calls.at(-1), calls: provider.calls }));
      passed += 1;
      console.log(`✓ ${title}`);
    } catch (error) {
      failed += 1;
      console.log(`✕ ${title}\n`, error);
    }
  }
} catch (error) {
  failed += 1;
  console.log('✕ the gateway starts\n', error);
}
gateway.kill();
provider.close();
if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'close');
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** The address and the admin key that the first start prints. */
async function started(child) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const end = Date.now() + START_MS;
  while (Date.now() < end && child.exitCode === null) {
    const url = /Tollgate listens on (\S+)/.exec(output)?.[1];
    const adminKey = /\btg_\w+/.exec(output)?.[0];
    if (url !== undefined && adminKey !== undefined) return { url, adminKey };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the gateway did not start: ${output}`);
}

/** Virtual keys at the fake provider, and a key for clients that can send nothing else. */
async function prepare(url, adminKey) {
  const create = async (address, body) => {
    const headers = { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' };
    const answer = await fetch(url + address, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(await answer.text());
    return answer.json();
  };
  for (const [name, base_url] of [
    ['cohere', provider.url],
    ['voyage', provider.url],
    ['openai', `${provider.url}/v1`],
    ['anthropic', provider.url],
    ['openai-compatible', `${provider.url}/self-hosted`],
  ]) {
    await create('/v1/virtual-keys', { name, slug: name, provider: name, key: 'provider-key', config: { base_url } });
  }
  const scopes = ['completions.write', 'batches.create', 'batches.list', 'fine_tuning.create'];
  const keyOf = async (more) =>
    (await create('/v1/api-keys', { name: 'a client', workspace_id: 'default', scopes, ...more })).key;
  return { url, key: await keyOf({}), openaiKey: await keyOf({ default_virtual_key: 'openai' }) };
}

function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
