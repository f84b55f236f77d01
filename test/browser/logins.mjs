import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** Logs a new tab in at the identity provider, and waits for the console. */
async function logInAtProvider(tabs, address) {
  const page = await tabs.newPage();
  await page.goto(address);
  await page.getByRole('link', { name: 'Log in with your organisation' }).click();
  return page;
}

/** What people do who have no key. */
export const logins = [
  {
    title: 'Another log-in in one tab replaces the last one in all, with everything that it saw',
    run: async ({ tabs, page: address, adminKey, keyWith }) => {
      const reader = await keyWith(['usage.read', 'api_keys.list'], 'reader of two tabs');
      const one = await logIn(tabs, address, adminKey);
      const other = await tabs.newPage();
      await other.goto(`${address}/audit`);
      await other.getByRole('cell', { name: 'api_keys.create' }).first().waitFor();
      await one.getByRole('button', { name: 'Log out' }).click();
      await one.getByLabel('API key').fill(reader);
      await one.getByRole('button', { name: 'Log in' }).click();
      const links = (page) =>
        page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link').allInnerTexts();
      await one.getByText('reader of two tabs').waitFor();
      await other.getByText('reader of two tabs').waitFor();
      for (const page of [one, other]) assert.deepEqual(await links(page), ['Overview', 'API keys', 'Settings']);
      assert.equal(await other.getByRole('cell', { name: 'api_keys.create' }).count(), 0);
      await other.getByRole('link', { name: 'Settings' }).click();
      await other.getByText('this one').waitFor();
    },
  },
  {
    title: 'An owner logs in at the identity provider, lands on the page of the link, and logs out',
    run: async ({ tabs, page: address, nextUser }) => {
      nextUser({ sub: 'ann', groups: ['owners'] });
      const page = await logInAtProvider(tabs, `${address}/keys?search=nothing`);
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/console/keys?search=nothing');
      await page.getByText('ann@example.com').waitFor();
      await page.getByRole('link', { name: 'Audit log' }).waitFor();
      const kept = await page.evaluate(() =>
        JSON.stringify([document.cookie, Object.entries(localStorage), Object.entries(sessionStorage)]),
      );
      assert.equal(kept, '["",[],[]]');
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
    },
  },
  {
    title: 'A member of a workspace sees that workspace only, and works elsewhere by another log-in',
    run: async ({ tabs, page: address, url, ask, nextUser }) => {
      await ask('/v1/api-keys', {
        name: 'key of the whole organisation',
        level: 'organisation',
        scopes: ['usage.read'],
      });
      nextUser({ sub: 'mem', groups: ['team'] });
      const page = await logInAtProvider(tabs, `${address}/keys`);
      await page.getByText('Search team').first().waitFor();
      await page.getByText('No key here.').waitFor();
      for (const name of ['Audit log', 'Playground']) assert.equal(await page.getByRole('link', { name }).count(), 0);
      const status = await page.evaluate(async (api) => (await fetch(api)).status, `${url}/v1/audit-logs`);
      assert.equal(status, 403);
      await page.getByRole('link', { name: 'Settings' }).click();
      await page
        .getByRole('listitem')
        .filter({ hasText: 'as auditor' })
        .getByRole('link', { name: 'Work here' })
        .click();
      await page.getByRole('link', { name: 'Audit log' }).waitFor();
    },
  },
  ...[
    { who: 'of one workspace', groups: ['leads'], place: undefined },
    { who: 'of an organisation', groups: ['admins'], place: 'Search team (search)' },
  ].map(({ who, groups, place }) => ({
    title: `An administrator ${who} without a key makes a virtual key, an MCP server, a limit, a key and a webhook`,
    run: async ({ tabs, page: address, nextUser }) => {
      nextUser({ sub: groups[0], groups });
      const page = await logInAtProvider(tabs, `${address}/providers`);
      const form = page.getByRole('dialog');
      const begin = async (link, button, name) => {
        await page.getByRole('link', { name: link, exact: true }).click();
        await page.getByRole('button', { name: button }).click();
        await form.getByLabel('Name', { exact: true }).fill(name);
        if (place === undefined) assert.equal(await form.getByLabel('Workspace').count(), 0);
        else await form.getByLabel('Workspace').selectOption(place);
      };
      await begin('Providers', 'New virtual key', `Key of ${who}`);
      await form.getByLabel('Provider', { exact: true }).selectOption('local');
      await form.getByRole('button', { name: 'Save and test' }).click();
      await form.getByText('The provider accepts the key.').waitFor();
      await form.getByRole('button', { name: 'Done' }).click();
      await begin('MCP servers', 'New server', `Server of ${who}`);
      await form.getByLabel('Address of the server').fill('http://127.0.0.1:9/mcp');
      await form.getByRole('button', { name: 'Save and test' }).click();
      await form.getByText(/^The test failed: \S/).waitFor();
      await form.getByRole('button', { name: 'Done' }).click();
      await begin('Limits', 'New limit', `Limit of ${who}`);
      await form.getByLabel('Cap in dollars').fill('100');
      if (place !== undefined) {
        await form.getByLabel('Workspace').selectOption('');
        await form.getByRole('button', { name: 'Create limit' }).click();
        await form.getByText('Choose the workspace whose calls the limit counts.').waitFor();
        await form.getByLabel('Workspace').selectOption(place);
      }
      await form.getByRole('button', { name: 'Create limit' }).click();
      await page.getByRole('link', { name: `Limit of ${who}` }).waitFor();
      await begin('API keys', 'New key', `API key of ${who}`);
      await form.getByRole('button', { name: 'Create key' }).click();
      await form.getByText('Copy the key now').waitFor();
      await form.getByRole('button', { name: 'Close' }).click();
      await page
        .getByRole('row', { name: `API key of ${who}` })
        .getByText('Search team')
        .waitFor();
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('link', { name: 'Webhooks' }).click();
      await page.getByRole('button', { name: 'New webhook' }).click();
      await page.getByLabel('Address').fill(`https://example.com/${groups[0]}`);
      if (place !== undefined) await page.getByLabel('Workspace', { exact: true }).selectOption(place);
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByLabel('Secret of the webhook', { exact: true }).waitFor();
    },
  })),
  {
    title: 'A person whose groups have no role sees why, and gets no session',
    run: async ({ tabs, page: address, nextUser }) => {
      nextUser({ sub: 'nil', groups: ['visitors'] });
      const page = await logInAtProvider(tabs, address);
      await page.getByRole('alert').getByText('None of your groups may use this gateway.').waitFor();
      const names = (await tabs.cookies()).map(({ name }) => name);
      assert.deepEqual(
        names.filter((name) => name.startsWith('tollgate')),
        [],
      );
    },
  },
  {
    title: 'The page that was asked for is shown after a log-in that failed and one that did not',
    run: async ({ tabs, page: address, nextUser, adminKey }) => {
      nextUser({ sub: 'nil', groups: ['visitors'] });
      const page = await logInAtProvider(tabs, `${address}/calls?status=failed&search=a%26b`);
      await page.getByRole('alert').getByText('None of your groups may use this gateway.').waitFor();
      assert.equal(page.url(), `${address}/calls?status=failed&search=a%26b`);
      nextUser({ sub: 'aud', groups: ['owners'] });
      // The identity provider remembers who logged in.
      await tabs.clearCookies();
      await page.getByRole('link', { name: 'Log in with your organisation' }).click();
      await page.getByRole('heading', { name: 'Calls', exact: true }).waitFor();
      assert.equal(await page.getByRole('searchbox').first().inputValue(), 'a&b');
      assert.match(page.url(), /status=failed/);

      await tabs.clearCookies();
      nextUser({ sub: 'nil', groups: ['visitors'] });
      await page.goto(`${address}/keys`);
      await page.getByRole('link', { name: 'Log in with your organisation' }).click();
      await page.getByRole('alert').getByText('None of your groups may use this gateway.').waitFor();
      await page.getByLabel('API key').fill(adminKey);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    },
  },
  {
    title: 'A late refusal of an older look at the session changes nothing',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      await page.waitForLoadState('networkidle');
      let late;
      await page.route('**/v1/sessions/current', (route) => {
        if (late !== undefined) return route.continue();
        late = route;
      });
      const asked = page.waitForRequest('**/v1/sessions/current');
      await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
      await asked;
      // As another tab that logged in does.
      const newer = page.waitForResponse('**/v1/sessions/current');
      await page.evaluate(() => new BroadcastChannel('tollgate-login').postMessage('another session'));
      await (await newer).finished();
      await page.waitForTimeout(1_000);
      const error = { message: 'Too late.', type: 'x', code: 'api_key_invalid', param: null, source: 'gateway' };
      await late.fulfill({ status: 401, json: { error } }).catch(() => undefined);
      await page.waitForTimeout(500);
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('after the late refusal');
      const made = page.waitForResponse((response) => response.request().method() === 'POST');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      assert.equal((await made).status(), 201);
    },
  },
  {
    title: 'A log-out that fails says so, and the log-in page says why it is shown, once',
    run: async ({ tabs, page: address, url, adminKey, keyWith, nextUser }) => {
      nextUser({ sub: 'nil', groups: ['visitors'] });
      const page = await logInAtProvider(tabs, address);
      await page.getByRole('alert').getByText('None of your groups may use this gateway.').waitFor();
      await page.getByLabel('API key').fill('tg_…');
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('alert').getByText('The API key has a character that no key has.').waitFor();
      const key = await keyWith(['usage.read'], 'ends soon');
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      const logOut = page.getByRole('button', { name: 'Log out' });
      await page.route('**/v1/sessions/current', (route) =>
        route.request().method() === 'DELETE' ? route.abort() : route.continue(),
      );
      await logOut.click();
      await page.getByRole('alert').getByText('You are still logged in.').waitFor();
      await page.unroute('**/v1/sessions/current');
      await logOut.click();
      await page.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await logOut.waitFor();
      const headers = { 'x-gateway-api-key': adminKey };
      const { id } = await (await fetch(`${url}/v1/me`, { headers: { 'x-gateway-api-key': key } })).json();
      await fetch(`${url}/v1/api-keys/${id}`, { method: 'DELETE', headers });
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('alert').getByText('Your session has ended. Log in again.').waitFor();
    },
  },
  {
    title: 'The log-in page does not move under a click, neither while it loads nor after a refusal',
    run: async ({ tabs, page: address }) => {
      const page = await tabs.newPage();
      let reads = 0;
      await page.route('**/v1/login', async (route) => {
        reads += 1;
        // Another read has no answer.
        if (reads > 1) return;
        await new Promise((passed) => setTimeout(passed, 1_000));
        await route.continue();
      });
      await page.goto(address);
      const button = page.getByRole('button', { name: 'Log in', exact: true });
      const link = page.getByRole('link', { name: 'Log in with your organisation' });
      await button.waitFor();
      const place = await button.boundingBox();
      await link.waitFor();
      assert.deepEqual(await button.boundingBox(), place);
      await page.getByLabel('API key').fill('tg_wrong');
      const login = page.waitForResponse(/\/v1\/sessions\/current$/);
      await button.click();
      await page.getByRole('alert').getByText('The gateway API key is missing or not valid.').waitFor();
      await login;
      await page.getByLabel('API key').press('End');
      await page.getByLabel('API key').pressSequentially('er');
      assert.ok(await link.isVisible());
      assert.equal(await page.getByLabel('API key').inputValue(), 'tg_wronger');
    },
  },
  {
    title: 'A log-in whose rights cannot be read says so, and keeps the key for another try',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await tabs.newPage();
      await page.goto(address);
      await page.getByLabel('API key').fill(adminKey);
      const error = { message: 'Too many requests.', type: 'rate_limit_error', code: 'rate_limited', param: null };
      await page.route('**/v1/me', (route) => route.fulfill({ status: 429, json: { error } }));
      const button = page.getByRole('button', { name: 'Log in', exact: true });
      await button.click();
      await page.getByRole('alert').getByText('Too many requests.').waitFor();
      await page.unroute('**/v1/me');
      await button.click();
      await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor();
    },
  },
];
