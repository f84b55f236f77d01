import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { logIn } from './log-in.mjs';

const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(1)</script>';

/** What must not work. */
export const attacks = [
  {
    title: 'A key without a scope sees no such page, and its calls are refused',
    run: async ({ tabs, page: address, keyWith }) => {
      const page = await logIn(tabs, address, await keyWith(['usage.read'], 'reader'));
      const links = await page
        .getByRole('navigation', { name: 'Pages of the console' })
        .getByRole('link')
        .allInnerTexts();
      assert.deepEqual(links, ['Overview', 'Settings']);
      await page.goto(`${address}/keys`);
      await page.getByRole('alert').getByText('api_keys.list').waitFor();
      assert.equal(await page.getByRole('button', { name: 'New key' }).count(), 0);
    },
  },
  {
    title: 'A key that may not see the overview begins at a page that it may see, and is offered what it may give',
    run: async ({ tabs, page: address, keyWith }) => {
      const key = await keyWith(['api_keys.list', 'api_keys.create', 'mcp.invoke', 'usage.read']);
      const page = await logIn(tabs, `${address}/keys`, key);
      await page.getByRole('button', { name: 'New key' }).click();
      const users = page.getByLabel('Who will use it');
      await users.waitFor();
      assert.deepEqual(await users.getByRole('option').allInnerTexts(), [
        'An agent that calls MCP servers',
        'An administrator: everything that you may do',
      ]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Log out' }).click();
      const other = await logIn(tabs, address, await keyWith(['virtual_keys.list', 'secret_references.list']));
      await other.getByRole('heading', { name: 'Providers' }).waitFor();
      assert.equal(new URL(other.url()).pathname, '/console/providers');
    },
  },
  {
    title: 'A wrong key is refused, and no script can read the key or the session of a right one',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await tabs.newPage();
      await page.goto(address);
      await page.getByLabel('API key').fill('tg_wrong');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').getByText('The gateway API key is missing or not valid.').waitFor();
      await page.close();
      const logged = await logIn(tabs, address, adminKey);
      const readable = await logged.evaluate(() =>
        JSON.stringify([document.cookie, Object.entries(localStorage), Object.entries(sessionStorage)]),
      );
      assert.equal(readable, '["",[],[]]');
    },
  },
  {
    title: 'A page of another origin can neither use the session nor show the console in a frame',
    run: async ({ tabs, page: address, url, adminKey }) => {
      await logIn(tabs, address, adminKey);
      const other = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<title>other</title><iframe src="${address}"></iframe>`);
      });
      other.listen(0, '127.0.0.1');
      await once(other, 'listening');
      try {
        const page = await tabs.newPage();
        await page.goto(`http://localhost:${other.address().port}`);
        const statuses = await page.evaluate(async (api) => {
          const tries = [{ method: 'GET' }, { method: 'POST', body: '{}' }];
          const ask = (init) =>
            fetch(api, { ...init, credentials: 'include', mode: 'no-cors' }).then((answer) => answer.type);
          return Promise.all(tries.map((init) => ask(init).catch(() => 'failed')));
        }, `${url}/v1/workspaces`);
        assert.ok(statuses.every((status) => ['opaque', 'failed'].includes(status)));
        assert.equal(await page.frames().at(-1).getByLabel('API key').count(), 0);
        assert.equal(await page.frames().at(-1).getByRole('navigation').count(), 0);
      } finally {
        other.close();
      }
    },
  },
  {
    title: 'A script in the page without the CSRF token changes nothing',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, address, adminKey);
      const send = (headers) =>
        page.evaluate(async (more) => {
          const body = JSON.stringify({ name: 'Forged', slug: 'forged' });
          const init = { method: 'POST', headers: { 'content-type': 'application/json', ...more }, body };
          return (await fetch('/v1/workspaces', init)).status;
        }, headers);
      assert.equal(await send({}), 403);
      assert.equal(await send({ 'x-gateway-csrf-token': 'x' }), 403);
    },
  },
  {
    title: 'Hostile names of resources are text on every page',
    run: async ({ tabs, page: address, adminKey, ask, keyWith }) => {
      await keyWith(['usage.read'], HOSTILE);
      await ask('/v1/virtual-keys', { name: HOSTILE, slug: 'hostile', provider: 'local' });
      await ask('/v1/model-routes', {
        name: 'hostile',
        slug: 'hostile-route',
        description: HOSTILE,
        targets: [{ virtual_key: 'hostile', model: HOSTILE }],
      });
      await ask('/v1/mcp-servers', { name: HOSTILE, slug: 'hostile-server', url: 'http://127.0.0.1:1/mcp' });
      await ask('/v1/policies/usage-limits', {
        name: HOSTILE,
        conditions: [{ key: 'model', value: HOSTILE }],
        group_by: [{ key: 'api_key' }],
        type: 'tokens',
        credit_limit: 1,
        enforcement: 'monitor',
      });
      const page = await logIn(tabs, address, adminKey);
      const alerts = [];
      page.on('dialog', (dialog) => {
        alerts.push(dialog.message());
        return dialog.dismiss();
      });
      for (const name of ['limits', 'keys', 'providers', 'models', 'mcp', 'audit']) {
        await page.goto(`${address}/${name}`);
        await page.getByText(HOSTILE, { exact: false }).first().waitFor();
        assert.equal(await page.locator('main img').count(), 0);
      }
      assert.deepEqual(alerts, []);
    },
  },
  {
    title: 'A session that was ended elsewhere leaves the page',
    run: async ({ tabs, newTabs, page: address, keyWith }) => {
      const key = await keyWith(['usage.read'], 'two browsers');
      const page = await logIn(tabs, address, key);
      const otherBrowser = await newTabs();
      const other = await logIn(otherBrowser, `${address}/settings`, key);
      await other.getByRole('button', { name: 'End' }).click();
      await other.getByRole('button', { name: 'End' }).waitFor({ state: 'detached' });
      await otherBrowser.close();
      await page.reload();
      await page.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
    },
  },
];
