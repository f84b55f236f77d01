import assert from 'node:assert/strict';
import { hold } from './hold.mjs';
import { logIn } from './log-in.mjs';

/** What each list offers. */
export const lists = [
  {
    title: 'The lists of secret references, workspaces and webhooks are searched by the address, and have CSV',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const shown = [
        { place: 'providers', title: 'Secret references', path: '/v1/secret-references', bodyOf: reference },
        {
          place: 'settings?view=workspaces',
          title: 'Workspaces',
          path: '/v1/workspaces',
          bodyOf: (name) => ({ name }),
        },
        { place: 'settings?view=webhooks', title: 'Webhooks', path: '/v1/webhooks', bodyOf: webhook },
      ];
      const page = await logIn(tabs, address, adminKey);
      for (const { place, title, path, bodyOf } of shown) {
        for (const name of ['needle', 'haystack']) await ask(path, bodyOf(name));
        await page.goto(`${address}/${place}`);
        const table = page.getByRole('table', { name: title });
        await table.getByText('haystack').first().waitFor();
        await page.getByRole('searchbox').fill('needle');
        await table.getByText('haystack').first().waitFor({ state: 'detached' });
        await page.reload();
        await table.getByText('needle').first().waitFor();
        assert.equal(await table.getByText('haystack').count(), 0);
        const card = page.locator('section').filter({ has: page.getByRole('heading', { name: title }) });
        const download = page.waitForEvent('download');
        await card.getByRole('button', { name: 'CSV', exact: true }).click();
        assert.equal((await download).suggestedFilename(), `${path.split('/').at(-1)}.csv`);
      }
    },
  },
  {
    title: 'A search box keeps what is typed while its list follows',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const box = page.getByRole('searchbox');
      await box.pressSequentially('one ');
      await page.waitForURL(/search=one$/);
      await box.pressSequentially('two');
      await page.waitForURL(/search=one\+two$/);
      assert.equal(await box.inputValue(), 'one two');
      await page.goto(`${address}/keys`);
      await box.waitFor();
      await page.evaluate(typeAtNextSearch, ' more');
      await box.pressSequentially('and');
      await page.waitForURL(/search=and\+more$/);
      assert.equal(await box.inputValue(), 'and more');
      await page.getByRole('link', { name: 'API keys' }).click();
      await page.waitForURL(/keys$/);
      await page.waitForFunction(() => document.querySelector('input[type=search]').value === '');
    },
  },
  {
    title: 'A list that still shows the rows of another choice is marked as busy',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const rows = page.getByRole('region', { name: 'API keys' });
      await rows.waitFor();
      assert.notEqual(await rows.getAttribute('aria-busy'), 'true');
      const release = await hold(page, /status=active/);
      await page.getByLabel('State').selectOption('Active');
      await rows.and(page.locator('[aria-busy=true]')).waitFor();
      await release();
      await rows.and(page.locator('[aria-busy=false]')).waitFor();
    },
  },
  {
    title: 'The button "Back" shows the page before, and a page without rows gives way to the last one',
    run: async ({ tabs, url, page: address, adminKey, ask, keyWith }) => {
      for (let at = 0; at < 51; at += 1) await keyWith(['usage.read'], `turned ${at}`);
      const page = await logIn(tabs, `${address}/keys?search=turned`, adminKey);
      const shown = (words) => page.getByText(words, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await shown('51–51 of 51');
      await page.goBack();
      await shown('1–50 of 51');
      await page.goto(`${address}/keys?search=turned&page=9`);
      await shown('51–51 of 51');
      const [{ id }] = (await ask('/v1/api-keys?search=turned')).data;
      await fetch(`${url}/v1/api-keys/${id}`, { method: 'DELETE', headers: { 'x-gateway-api-key': adminKey } });
      await page.reload();
      await page
        .getByText(/^turned/)
        .first()
        .waitFor();
      assert.equal(new URL(page.url()).searchParams.get('page'), null);
      assert.equal(await page.getByRole('row').count(), 51);
    },
  },
  {
    title:
      'The audit log and the calls of a server are searched and filtered by the address, and a trace joins the logs',
    run: async ({ tabs, page: address, adminKey, ask, toolsUrl }) => {
      await ask('/v1/mcp-servers', { name: 'Searched', slug: 'searched', url: toolsUrl });
      await ask('/v1/mcp-servers/searched/test', {});
      const call = (tool) => ask(`/v1/mcp-servers/searched/tools/${tool}/call`, { arguments: {} });
      for (const tool of ['create_issue', 'delete_issue']) await call(tool);
      const page = await logIn(tabs, `${address}/mcp/searched`, adminKey);
      const calls = page.getByRole('table', { name: 'Calls' });
      await calls.getByText('create_issue').first().waitFor();
      await page.getByRole('searchbox', { name: 'Search calls' }).fill('delete_');
      await calls.getByText('create_issue').first().waitFor({ state: 'detached' });
      await page.reload();
      await calls
        .getByRole('link', { name: /^Trace/ })
        .first()
        .click();
      await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
      await page.getByRole('button', { name: /^Show/ }).click();
      await page.getByRole('dialog').getByText('tool failed').waitFor();
      await page.getByRole('dialog').getByRole('link', { name: 'its changes' }).click();
      await page.getByText('No change here.').waitFor();
      await page.getByRole('searchbox').fill('mcp_servers.CREATE');
      await page.getByRole('cell', { name: 'Searched', exact: true }).waitFor();
      await page.getByLabel('Resource').selectOption('Workspaces');
      await page.getByText('No change here.').waitFor();
      await page.getByLabel('Resource').selectOption('MCP servers');
      await page.reload();
      await page.getByRole('button', { name: 'Show mcp_servers.create of Searched' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('url.path').waitFor();
      assert.equal(await dialog.getByText(new URL(toolsUrl).pathname).count(), 0);
    },
  },
  {
    title: 'Keys and workspaces are named and found however many are newer, and all names of a page come at once',
    run: async ({ tabs, url, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Named', slug: 'named', provider: 'openai-compatible', config });
      await ask('/v1/policies/usage-limits', {
        name: 'Of old keys',
        slug: 'of-old-keys',
        conditions: [{ key: 'virtual_key', value: 'named' }],
        group_by: [{ key: 'api_key' }, { key: 'workspace_id' }],
        type: 'tokens',
        credit_limit: 1,
        enforcement: 'monitor',
      });
      const { id } = await ask('/v1/workspaces', { name: 'zz old workspace', slug: 'old-workspace' });
      const inWorkspace = { level: 'workspace', workspace_id: id, scopes: ['completions.write'] };
      for (const name of ['first old key', 'second old key']) {
        const bound = name.startsWith('first') && { allowed_virtual_keys: ['named'] };
        const { key } = await ask('/v1/api-keys', { name, ...inWorkspace, ...bound });
        assert.equal((await call(key, { model: '@named/costs-nothing' })).status, 200);
      }
      const newer = Array.from({ length: 100 }, (_, number) => `newer-${number}`);
      for (const name of newer) {
        await ask('/v1/api-keys', { name, level: 'organisation', scopes: ['usage.read'] });
        await ask('/v1/workspaces', { name, slug: name });
      }
      const page = await logIn(tabs, `${address}/limits/of-old-keys`, adminKey);
      const group = 'API key: first old key · workspace: zz old workspace';
      const cell = page.getByRole('cell', { name: group, exact: true });
      await cell.waitFor();
      const lookups = [];
      page.on('request', (request) => request.url().includes('ids=') && lookups.push(new URL(request.url()).pathname));
      await page.reload();
      await cell.waitFor();
      await page.getByRole('button', { name: `Reset ${group}` }).waitFor();
      await page.getByRole('cell', { name: /^API key: second old key/ }).waitFor();
      assert.deepEqual([lookups.length, new Set(lookups).size], [2, 2], lookups.join(' '));
      // Groups are found by the names that are shown.
      await page.getByRole('searchbox').fill('second OLD');
      await cell.waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: /^API key: second old key/ }).waitFor();
      await page.getByRole('searchbox').fill('zz old');
      await cell.waitFor();
      await page.goto(`${address}/calls?search=costs-nothing`);
      await page.getByRole('cell', { name: 'first old key' }).waitFor();
      await page.goto(address);
      await page.getByText('API key: first old key').first().waitFor();
      // What is chosen from is whole, and so is what a deletion breaks.
      await page.goto(`${address}/providers`);
      await page.getByRole('button', { name: 'New reference' }).click();
      await page.getByLabel('Search workspaces').fill('zz OLD');
      await page.getByRole('checkbox', { name: 'zz old workspace' }).check();
      await page.getByLabel('Search workspaces').fill('');
      assert.equal(await page.getByRole('checkbox', { name: 'zz old workspace' }).isChecked(), true);
      await page.goto(`${address}/limits`);
      await page.getByRole('button', { name: 'New limit' }).click();
      await page.getByLabel('Workspace', { exact: true }).selectOption('zz old workspace (old-workspace)');
      await page.getByLabel('For calls whose').selectOption('API key');
      await page.getByLabel('is', { exact: true }).selectOption('first old key');
      await page.goto(`${address}/providers?search=named`);
      await page.getByRole('button', { name: 'Delete Named' }).click();
      await page.getByText('Keys that are bound to it: first old key.').waitFor();
      // Other cases choose among few workspaces.
      const headers = { 'x-gateway-api-key': adminKey };
      for (const name of newer) await fetch(`${url}/v1/workspaces/${name}`, { method: 'DELETE', headers });
    },
  },
  {
    title: 'One of a thing has no plural, and every share is written the same way',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Single', slug: 'single', provider: 'openai-compatible', config });
      await ask('/v1/policies/usage-limits', {
        name: 'One a day',
        conditions: [{ key: 'model', value: 'one' }],
        group_by: [{ key: 'model' }],
        enforcement: 'monitor',
        type: 'tokens',
        credit_limit: 1,
        periodic_reset_days: 1,
      });
      const target = { virtual_key: 'single', model: 'one', min_estimated_tokens: 1, min_budget_left: 0.25 };
      await ask('/v1/model-routes', { name: 'one-target', targets: [target] });
      assert.equal((await call(adminKey, { model: '@single/two' })).status, 200);
      const page = await logIn(tabs, `${address}/limits`, adminKey);
      await page.getByText('1 token a day', { exact: true }).waitFor();
      await page.goto(`${address}/models?search=one-target`);
      await page.getByText('from 1 token · while 25% of the budget is left').waitFor();
      await page.goto(address);
      await page.getByText('95% within', { exact: true }).waitFor();
    },
  },
  {
    title: 'The names of all tabs can be read in a narrow window',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/settings?view=webhooks`, adminKey);
      await page.setViewportSize({ width: 360, height: 800 });
      const bar = page.getByRole('navigation', { name: 'Parts of the settings' });
      const [inner, outer] = await bar.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      assert.ok(inner <= outer, `${inner} px of names in ${outer} px`);
    },
  },
];

/** In the page: types into its search box in the moment in which the address gets what stands there. */
function typeAtNextSearch(text) {
  const field = document.querySelector('input[type=search]');
  const property = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  const replace = window.history.replaceState.bind(window.history);
  window.history.replaceState = (...given) => {
    window.history.replaceState = replace;
    replace(...given);
    property.set.call(field, field.value + text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };
}

const reference = (name) => ({
  name,
  manager_type: 'hashicorp_vault',
  secret_path: 'secret/openai',
  auth_config: { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' },
});
const webhook = (name) => ({ url: `https://hooks.example.com/${name}`, events: ['*'] });
