// Uses the console in a browser, as an administrator would, and as an attacker would. The last line is "N passed, M failed".
//   npm ci && node run.mjs [root of the repository]
// PICTURES=<folder> keeps a picture of every page and dialog, GUIDE=<folder> those of the guide, and ONLY=<pattern> runs the cases
// whose title matches. With DATABASE_URL, the stories run once more on a database of their own on that server.
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import chromiumPackage from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { attacks } from './attacks.mjs';
import { features } from './features.mjs';
import { figures } from './figures.mjs';
import { filters } from './filters.mjs';
import { foreignPages } from './foreign-pages.mjs';
import { forms } from './forms.mjs';
import { guide } from './guide.mjs';
import { keyboard } from './keyboard.mjs';
import { lists } from './lists.mjs';
import { logins as loginCases } from './logins.mjs';
import { outages } from './outages.mjs';
import { startPageServer } from './page-server.mjs';
import { pages } from './pages.mjs';
import { playground } from './playground.mjs';
import { resources } from './resources.mjs';
import { firstPage, longLists } from './speed.mjs';
import { spoken } from './spoken.mjs';
import { stories } from './stories.mjs';
import { tools as toolCases } from './tools.mjs';

const CASE_MS = 480_000;
/** For what a page must show in the end: how long that takes, other programs on the machine decide. */
const WAIT_MS = 60_000;
/** Of a page, where its case fails. */
const MAX_WORDS = 3_000;
const SYSTEM_BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
const ROLES = [
  'owners=owner@default',
  'team=member@default/search',
  'team=auditor@default',
  'leads=admin@default/search',
  'admins=admin@default',
];
const { DATABASE_URL, REDIS_URL, GUIDE, ONLY = '' } = process.env;

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const fromRoot = (file) => import(pathToFileURL(path.join(root, file)));
const { runCases, within } = await fromRoot('test/clients/run-cases.mjs');
const { buildConsoleIfStale } = await fromRoot('scripts/build-console.mjs');
const { runGateway } = await fromRoot('scripts/demo/gateway.mjs');
const { startScriptedProvider } = await fromRoot('scripts/demo/scripted-provider.mjs');
// The helpers of the other tests are TypeScript.
await fromRoot('test/support/runner/typescript.mjs');
const { startLoginProvider } = await fromRoot('test/support/login-provider.ts');
const { startFormServer } = await fromRoot('test/support/mcp-form-server.ts');
const { makeOwnDatabase } = await fromRoot('test/support/own-database.ts');
const { TollgateDataSource } = await fromRoot('src/database/tollgate-data-source.ts');

let passed = 0;
let failed = 0;
let browser;
const provider = await startScriptedProvider();
const tools = await startFormServer();
const origins = await startPageServer(root);
try {
  await buildConsoleIfStale();
  const executablePath = SYSTEM_BROWSERS.find(existsSync) ?? (await chromiumPackage.executablePath());
  browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const cases = [
    ...stories,
    ...loginCases,
    ...features,
    ...toolCases,
    ...playground,
    ...figures,
    ...foreignPages,
    ...resources,
    ...forms,
    ...keyboard,
    ...spoken,
    ...lists,
    ...filters,
    ...attacks,
    ...pages,
    ...outages,
  ];
  const all = [...firstPage, ...cases, ...longLists];
  await runOn({}, GUIDE === undefined ? all : guide);
  if (DATABASE_URL !== undefined && GUIDE === undefined) await onServer();
} catch (error) {
  failed += 1;
  console.log('✕ the gateway and the browser start\n', error);
}
await browser?.close();
provider.close();
await tools.close();
origins.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function onServer() {
  const database = await makeOwnDatabase(DATABASE_URL);
  try {
    const onPostgres = stories.map((story) => ({ ...story, title: `${story.title}, on PostgreSQL` }));
    const TOLLGATE_ENCRYPTION_KEY = randomBytes(32).toString('base64');
    const settings = { DATABASE_URL: database.url, TOLLGATE_ENCRYPTION_KEY, ...(REDIS_URL && { REDIS_URL }) };
    await runOn(settings, onPostgres);
  } finally {
    await database.drop();
  }
}

/** Runs cases against a gateway of its own. */
async function runOn(database, cases) {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'tollgate-browser-'));
  const logins = await startLoginProvider(publicUrl);
  const settings = {
    EGRESS_ALLOW: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: dataDir,
    REQUEST_LOG_BODIES: path.join(dataDir, 'bodies'),
    CORS_ORIGINS: origins.friend,
    ...logins.settings(publicUrl, ROLES),
    ...database,
  };
  let gateway = await runGateway(settings);
  try {
    const { adminKey, ...started } = await gateway.started;
    /** Stops the gateway, does something while it is away, and starts it again. */
    const restart = async (meanwhile) => {
      await gateway.stop();
      await meanwhile();
      gateway = await runGateway(settings, adminKey);
      await gateway.started;
    };
    /** While no gateway runs. */
    const query = async (statements) => {
      const source = new TollgateDataSource({ ...database, DATABASE_POOL_SIZE: 1, DATA_DIR: dataDir }, []);
      await source.initialize();
      for (const [statement, values] of statements) await source.query(statement, values);
      await source.destroy();
    };
    const context = {
      ...(await prepare({ adminKey, ...started })),
      nextUser: logins.nextUser,
      restart,
      query,
      origins,
    };
    const chosen = new RegExp(ONLY);
    const inTabs = cases
      .filter(({ title }) => chosen.test(title))
      .map(({ title, run }) => ({
        title,
        run: async () => {
          const opened = [];
          /** Tabs that share nothing with others, as those of another browser. */
          const newTabs = async (options) => {
            const tabs = await browser.newContext(options);
            tabs.setDefaultTimeout(WAIT_MS);
            opened.push(tabs);
            return tabs;
          };
          try {
            const tabs = await newTabs();
            // When the tabs are closed, what has no end ends.
            await within(CASE_MS, run({ ...context, newTabs, tabs }));
          } catch (error) {
            for (const page of opened.flatMap((tabs) => tabs.pages()))
              console.log(`${page.url()} shows: ${await wordsOf(page)}`);
            throw error;
          } finally {
            for (const tabs of opened) await tabs.close();
          }
        },
      }));
    const result = await runCases(inTabs, 2 * CASE_MS, () => undefined);
    passed += result.passed;
    failed += result.failed;
  } finally {
    await gateway.stop();
    await logins.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function wordsOf(page) {
  const words = await page.locator('body').innerText().catch(String);
  return words.slice(0, MAX_WORDS);
}

/** Not one that the system gives to other servers: the gateway comes back to it after a restart. */
async function freePort() {
  const port = 20_000 + randomInt(10_000);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  server.close();
  await once(server, 'close');
  return port;
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
  return { url, page, adminKey, ask, keyWith, call, providerUrl, toolsUrl: tools.endpoint.href };
}
