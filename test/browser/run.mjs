// Uses the console in a browser, as an administrator would, and as an attacker would. The last line is "N passed, M failed".
//   npm ci && node run.mjs [root of the repository]
// PICTURES=<folder> keeps a picture of every page, and ONLY=<pattern> runs the cases whose title matches.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import chromiumPackage from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { attacks } from './attacks.mjs';
import { features } from './features.mjs';
import { logins as loginCases } from './logins.mjs';
import { pages } from './pages.mjs';
import { stories } from './stories.mjs';

const CASE_MS = 90_000;
const SYSTEM_BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const fromRoot = (file) => import(pathToFileURL(path.join(root, file)));
const { runCases } = await fromRoot('test/clients/run-cases.mjs');
const { buildConsoleIfStale } = await fromRoot('scripts/build-console.mjs');
const { runGateway } = await fromRoot('scripts/demo/gateway.mjs');
const { startScriptedProvider } = await fromRoot('scripts/demo/scripted-provider.mjs');
// The helpers of the other tests are TypeScript.
await fromRoot('test/support/runner/typescript.mjs');
const { startLoginProvider } = await fromRoot('test/support/login-provider.ts');
const { startFormServer } = await fromRoot('test/support/mcp-form-server.ts');

let passed = 0;
let failed = 0;
let gateway;
let browser;
let logins;
const provider = await startScriptedProvider();
const tools = await startFormServer();
try {
  await buildConsoleIfStale();
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  logins = await startLoginProvider(publicUrl);
  gateway = await runGateway({
    EGRESS_ALLOW: '127.0.0.1',
    PORT: String(port),
    ...logins.settings(publicUrl, [
      'owners=owner@default',
      'team=member@default/search',
      'team=auditor@default',
      'leads=admin@default/search',
      'admins=admin@default',
    ]),
    ...(process.env.DATABASE_URL && services()),
  });
  const context = await prepare(await gateway.started);
  const executablePath = SYSTEM_BROWSERS.find(existsSync) ?? (await chromiumPackage.executablePath());
  browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const chosen = new RegExp(process.env.ONLY ?? '');
  const cases = [...stories, ...loginCases, ...features, ...attacks, ...pages]
    .filter(({ title }) => chosen.test(title))
    .map(({ title, run }) => ({
      title,
      run: async () => {
        const tabs = await browser.newContext();
        try {
          await run({ ...context, browser, tabs });
        } finally {
          await tabs.close();
        }
      },
    }));
  ({ passed, failed } = await runCases(cases, CASE_MS, () => undefined));
} catch (error) {
  failed += 1;
  console.log('✕ the gateway and the browser start\n', error);
}
await browser?.close();
await gateway?.stop();
provider.close();
await logins?.close();
await tools.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function services() {
  const { DATABASE_URL, REDIS_URL } = process.env;
  return { DATABASE_URL, ...(REDIS_URL && { REDIS_URL }) };
}

async function prepare({ url, adminKey, ask }) {
  const page = `${url}/console`;
  await ask('/v1/workspaces', { name: 'Search team', slug: 'search' });
  const keyWith = async (scopes, name = 'a key') =>
    (await ask('/v1/api-keys', { name, level: 'organisation', scopes })).key;
  const call = (key, body) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20, ...body }),
    });
  const providerUrl = `${provider.url}/v1`;
  const toolsUrl = tools.endpoint.href;
  return { url, page, adminKey, ask, keyWith, call, providerUrl, toolsUrl, nextUser: logins.nextUser };
}
