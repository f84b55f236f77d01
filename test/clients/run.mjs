// Calls a running gateway with other people's clients, each as its users would: a new address, a gateway key, and a
// model with the virtual key before it. The last line is "N passed, M failed".
//   npm ci && node run.mjs [root of the repository]
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AGENT_CLIENTS } from './agent-clients.mjs';
import { otherAnswer } from './fake-provider.mjs';
import { CLOUD_CLIENTS } from './cloud-clients.mjs';
import { CHAT_CLIENTS } from './chat-clients.mjs';
import { OPENAI_CLIENTS } from './openai-clients.mjs';
import { RERANK_CLIENTS } from './rerank-clients.mjs';
import { runCases } from './run-cases.mjs';

/** Only a call that hangs needs as long. */
const CASE_MS = 120_000;

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const fromRoot = (file) => import(pathToFileURL(path.join(root, file)));
const { runGateway } = await fromRoot('scripts/demo/gateway.mjs');
const { startScriptedProvider } = await fromRoot('scripts/demo/scripted-provider.mjs');
let passed = 0;
let failed = 0;
let gateway;
const provider = await startScriptedProvider({ otherwise: otherAnswer });
try {
  gateway = await runGateway({ EGRESS_ALLOW: '127.0.0.1' });
  const { url, ask } = await gateway.started;
  const keys = await prepare(ask);
  ({ passed, failed } = await runCases(
    [...RERANK_CLIENTS, ...OPENAI_CLIENTS, ...CHAT_CLIENTS, ...AGENT_CLIENTS, ...CLOUD_CLIENTS],
    CASE_MS,
    () => {
      provider.calls.length = 0;
      return { url, ...keys, sent: () => provider.calls.at(-1), calls: provider.calls };
    },
  ));
} catch (error) {
  failed += 1;
  console.log('✕ the gateway starts\n', error);
}
await gateway?.stop();
provider.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Virtual keys at the fake provider, and a key for clients that can send nothing else. */
async function prepare(ask) {
  for (const [name, base_url] of [
    ['cohere', provider.url],
    ['voyage', provider.url],
    ['openai', `${provider.url}/v1`],
    ['anthropic', provider.url],
    ['gemini', `${provider.url}/v1`],
    ['openai-compatible', `${provider.url}/self-hosted`],
  ]) {
    await ask('/v1/virtual-keys', { name, slug: name, provider: name, key: 'provider-key', config: { base_url } });
  }
  const aws = { aws_region: 'us-east-1', aws_access_key_id: 'AKIDEXAMPLE123456789', aws_secret_access_key: 'secret' };
  const config = { base_url: provider.url, ...aws };
  await ask('/v1/virtual-keys', { name: 'bedrock', slug: 'bedrock', provider: 'bedrock', config });
  const place = { google_project: 'my-project', google_location: 'global', base_url: provider.url };
  const vertex = { ...place, google_credentials: serviceAccountKey() };
  await ask('/v1/virtual-keys', { name: 'vertex', slug: 'vertex', provider: 'vertex', config: vertex });
  const scopes = ['completions.write', 'batches.create', 'batches.list', 'fine_tuning.create', 'api_keys.create'];
  const keyOf = async (more) =>
    (await ask('/v1/api-keys', { name: 'a client', workspace_id: 'default', scopes, ...more })).key;
  return { key: await keyOf({}), openaiKey: await keyOf({ default_virtual_key: 'openai' }) };
}

/** As Google's tools write it into a file. */
function serviceAccountKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return JSON.stringify({
    type: 'service_account',
    client_email: 'robot@my-project.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${provider.url}/google/token`,
  });
}
