import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** What forms send, and what they say of an answer. */
export const forms = [
  {
    title: 'A virtual key keeps its secret reference when the references load after its form',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const vault = { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' };
      const fields = { manager_type: 'hashicorp_vault', secret_path: 'secret/late', auth_config: vault };
      const { id } = await ask('/v1/secret-references', { name: 'Late reference', ...fields });
      const secret_mappings = [{ target_field: 'key', secret_reference_id: id }];
      await ask('/v1/virtual-keys', { name: 'From a reference', slug: 'late', provider: 'openai', secret_mappings });
      const page = await logIn(tabs, address, adminKey);
      await page.route(/secret-references\?.*page_size=100/, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await route.continue();
      });
      await page.goto(`${address}/providers?search=late`);
      await page.getByRole('button', { name: 'Change From a reference' }).click();
      const field = page.getByLabel('Where the key is');
      await field.getByRole('option', { name: 'Late reference (HashiCorp Vault)' }).waitFor({ state: 'attached' });
      assert.equal(await field.inputValue(), id);
      await page.getByLabel('Description').fill('changed');
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText('The virtual key is saved').waitFor();
      const { data } = await ask('/v1/virtual-keys?search=late');
      assert.deepEqual([data[0].description, data[0].secret_mappings[0]?.secret_reference_id], ['changed', id]);
    },
  },
  {
    title: 'A virtual key is changed, keeps its credential, and is tested',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl, call }) => {
      await ask('/v1/virtual-keys', {
        name: 'Changing',
        slug: 'changing',
        provider: 'openai-compatible',
        key: 'sk-kept-credential',
        config: { base_url: 'http://127.0.0.1:1/v1', timeout_ms: 5_000 },
      });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      const open = () => page.getByRole('button', { name: 'Change Changing' }).click();
      await open();
      // Until the end: the lists do not load again in time.
      await page.route(/\/v1\/virtual-keys\?/, () => undefined);
      assert.equal(await dialog.getByLabel('Address of the server').inputValue(), 'http://127.0.0.1:1/v1');
      const key = dialog.getByLabel('Key of the provider');
      assert.equal(await key.inputValue(), '');
      await dialog.getByLabel('Description').fill('For the search team.');
      await dialog.getByLabel('Last day').fill('2099-12-31');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText(/^The test failed: connect/).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      const changed = await ask('/v1/virtual-keys/changing');
      assert.equal(changed.description, 'For the search team.');
      assert.equal(changed.expires_at, Date.parse('2099-12-31T23:59:59Z') / 1_000);
      assert.match(changed.key, /\*/);

      await open();
      assert.equal(await dialog.getByLabel('Last day').inputValue(), '2099-12-31');
      await dialog.getByLabel('Address of the server').fill(providerUrl);
      await key.fill('sk-other-credential');
      await dialog.getByLabel('Last day').fill('');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText('The provider accepts the key.').waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      const { config, expires_at: end } = await ask('/v1/virtual-keys/changing');
      assert.deepEqual([config, end], [{ base_url: providerUrl, timeout_ms: 5_000 }, null]);
      assert.equal((await call(adminKey, { model: '@changing/gpt-x' })).status, 200);
    },
  },
  {
    title: 'A failed test of something new is shown although no list answers, and a retry makes no second one',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      const saveTwice = async (kind, name, failure) => {
        await page.route(`**/v1/${kind}/*/test`, (route) => route.abort(), { times: 1 });
        await page.route(/\/v1\/[a-z-]+\?/, () => undefined);
        await dialog.getByRole('button', { name: 'Save and test' }).click();
        await dialog.getByText('The gateway does not answer.').waitFor();
        await dialog.getByRole('button', { name: 'Save and test' }).click();
        await dialog.getByText(failure).waitFor();
        assert.equal((await ask(`/v1/${kind}?search=${name}`)).total, 1);
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      };
      await page.getByRole('button', { name: 'New virtual key' }).click();
      await dialog.getByLabel('Provider', { exact: true }).selectOption('ollama');
      await dialog.getByLabel('Name', { exact: true }).fill('MadeOnce');
      await dialog.getByLabel('Address of the server').fill('http://127.0.0.1:1/v1');
      await saveTwice('virtual-keys', 'MadeOnce', /^The test failed: connect/);

      await page.reload();
      await page.getByRole('button', { name: 'New reference' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('MadeOnce');
      await dialog.getByLabel('Manager').selectOption('HashiCorp Vault');
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9');
      await dialog.getByLabel('Token').fill('s.first-token');
      await dialog.getByLabel('Secret', { exact: true }).fill('secret/openai');
      await saveTwice('secret-references', 'MadeOnce', /^The test failed: \S/);

      await page.goto(`${address}/mcp`);
      await page.getByRole('button', { name: 'New server' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('MadeOnce');
      await dialog.getByLabel('Address of the server').fill('http://127.0.0.1:1/mcp');
      await saveTwice('mcp-servers', 'MadeOnce', /^The test failed: \S/);
    },
  },
  {
    title: 'The second click of a double click sends nothing',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/virtual-keys', { name: 'Clicked', slug: 'clicked', provider: 'local' });
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const dialog = page.getByRole('dialog');
      const sent = [];
      page.on('request', (request) => request.method() !== 'GET' && sent.push(new URL(request.url()).pathname));
      const twice = (name) =>
        dialog.getByRole('button', { name, exact: true }).evaluate((button) => {
          button.click();
          button.click();
        });
      await page.getByRole('button', { name: 'New key' }).click();
      // What the form refuses itself does not lock it.
      await twice('Create key');
      await dialog.getByText('A key needs a name.').waitFor();
      await dialog.getByLabel('Name', { exact: true }).fill('   ');
      await twice('Create key');
      await dialog.getByText('A key needs a name.').waitFor();
      await dialog.getByLabel('Name', { exact: true }).fill('clicked twice');
      await twice('Create key');
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Rotate clicked twice' }).click();
      await twice('Rotate');
      await dialog.getByText('The old secret ends in').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Delete clicked twice' }).click();
      await twice('Delete');
      await dialog.waitFor({ state: 'detached' });

      await page.getByRole('link', { name: 'Models' }).click();
      await page.getByRole('button', { name: 'New route' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('clicked-route');
      await dialog.getByLabel('Virtual key').selectOption('clicked');
      await dialog.getByLabel('Model', { exact: true }).fill('m');
      await twice('Create route');
      await dialog.waitFor({ state: 'detached' });
      const paths = sent.map((path) => path.replace(/[0-9a-f-]{36}/, 'id'));
      assert.deepEqual(paths, ['/v1/api-keys', '/v1/api-keys/id/rotate', '/v1/api-keys/id', '/v1/model-routes']);
    },
  },
  {
    title: 'A double click sends a test event, reads the tools of a server, calls one and ends a session once',
    run: async ({ tabs, url, page: address, ask, adminKey, keyWith, toolsUrl }) => {
      const hook = await ask('/v1/webhooks', { url: 'http://127.0.0.1:9/twice', events: ['api_key.expiring'] });
      await ask('/v1/mcp-servers', { name: 'Twice', slug: 'twice', url: toolsUrl });
      const page = await logIn(tabs, `${address}/settings/webhooks/${hook.id}`, adminKey);
      const sent = [];
      page.on('request', (request) => request.method() !== 'GET' && sent.push(new URL(request.url()).pathname));
      /** Two clicks as people do them: the gateway may answer the first before the second. Then two that no render comes between. */
      const sendsOnce = async (button) => {
        for (const click of [
          () => button.click({ clickCount: 2, delay: 60 }),
          () => button.evaluate((element) => [element.click(), element.click()]),
        ]) {
          await button.and(page.locator(':enabled')).waitFor();
          await Promise.all([page.waitForRequest((request) => request.method() !== 'GET'), click()]);
          await page.waitForTimeout(500);
          assert.equal(sent.splice(0).length, 1);
        }
      };
      await sendsOnce(page.getByRole('button', { name: 'Send a test event' }));
      await page.goto(`${address}/mcp/twice`);
      await sendsOnce(page.getByRole('button', { name: 'Read from the server' }));
      await sendsOnce(page.getByRole('button', { name: 'Preview' }));
      await page.getByRole('button', { name: 'Call delete_issue' }).click();
      await sendsOnce(page.getByRole('button', { name: 'Call the tool' }));

      const key = await keyWith(['usage.read'], 'ended twice');
      const headers = { 'x-gateway-api-key': key, 'content-type': 'application/json' };
      for (let count = 0; count < 3; count += 1)
        await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
      await tabs.clearCookies();
      const other = await logIn(tabs, `${address}/settings`, key);
      const ends = other.getByRole('button', { name: 'End' });
      await ends.nth(2).waitFor();
      assert.equal(await ends.count(), 3);
      await ends.first().click({ clickCount: 2, delay: 60 });
      await ends.nth(2).waitFor({ state: 'detached' });
      await other.waitForTimeout(1_000);
      assert.equal(await ends.count(), 2);
    },
  },
  {
    title: 'What someone else changes while a form is open stays, and a page shows it without a reload',
    run: async ({ tabs, url, page: address, adminKey, ask, toolsUrl }) => {
      const headers = { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' };
      const patch = async (path, body) => {
        const answer = await fetch(url + path, { method: 'PATCH', headers, body: JSON.stringify(body) });
        assert.equal(answer.status, 200, await answer.text());
      };
      const vault = { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' };
      const reference = { manager_type: 'hashicorp_vault', secret_path: 'secret/two', auth_config: vault };
      const target = { virtual_key: 'two-admins', model: 'm' };
      const limit = { type: 'tokens', conditions: [{ key: 'model', value: 'two' }], group_by: [{ key: 'model' }] };
      const [name, slug] = ['Two admins', 'two-admins'];
      await ask('/v1/virtual-keys', { name, slug, provider: 'local' });
      await ask('/v1/workspaces', { name, slug });
      await ask('/v1/secret-references', { name, slug, ...reference });
      await ask('/v1/model-routes', { name: slug, targets: [target] });
      await ask('/v1/mcp-servers', { name, slug, url: toolsUrl });
      const { id } = await ask('/v1/policies/usage-limits', { name, credit_limit: 500, ...limit });
      const { id: hook } = await ask('/v1/webhooks', { url: 'http://127.0.0.1:9/two-admins', events: ['*'] });
      const page = await logIn(tabs, address, adminKey);
      const dialog = page.getByRole('dialog');

      const policy = `/v1/policies/usage-limits/${id}`;
      const changes = [
        { place: `limits/${id}`, path: policy, field: 'Name', change: { credit_limit: 700 } },
        { place: 'models', of: ` ${slug}`, path: `/v1/model-routes/${slug}`, change: { max_output_tokens: 60 } },
        {
          place: 'settings?view=workspaces',
          of: ` ${name}`,
          path: `/v1/workspaces/${slug}`,
          change: { name: 'Other' },
        },
        {
          place: 'settings?view=webhooks',
          of: ' http://127.0.0.1:9/two-admins',
          path: `/v1/webhooks/${hook}`,
          change: { enabled: false },
        },
        {
          place: 'providers',
          of: ` ${name}`,
          field: 'Name',
          path: `/v1/secret-references/${slug}`,
          change: { secret_path: 'secret/other' },
        },
        { place: `mcp/${slug}`, path: `/v1/mcp-servers/${slug}`, field: 'Name', change: { enabled: false } },
      ];
      for (const { place, of = '', field = 'Description', path, change } of changes) {
        await page.goto(`${address}/${place}`);
        const scope = place === 'providers' ? page.getByRole('table', { name: 'Secret references' }) : page;
        await scope.getByRole('button', { name: `Change${of}`, exact: true }).click();
        await patch(path, change);
        await dialog.getByLabel(field, { exact: true }).fill('By me');
        // The pages that refresh by themselves have read the change by then.
        if (!place.includes('?') && place !== 'providers') await page.waitForTimeout(5_500);
        await dialog.getByRole('button', { name: /^Save/ }).click();
        await page.getByRole('button', { name: /^Save/ }).waitFor({ state: 'detached' });
        const after = await ask(path);
        const [[changed, value]] = Object.entries(change);
        assert.deepEqual([after[changed], after[field.toLowerCase()]], [value, 'By me'], path);
        // The page is still there.
        await page.getByRole('heading', { level: 1 }).waitFor();
      }

      await page.goto(`${address}/limits/${id}`);
      await page.getByText('700 tokens').waitFor();
      await patch(`/v1/policies/usage-limits/${id}`, { credit_limit: 900 });
      await page.getByText('900 tokens').waitFor();
      await fetch(`${url}/v1/policies/usage-limits/${id}`, { method: 'DELETE', headers });
      await page.getByRole('button', { name: 'Archive' }).waitFor({ state: 'detached' });
    },
  },
  {
    title: 'What the gateway refuses stands at its field until that is changed, and the rest at the foot',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/virtual-keys', { name: 'Taken', slug: 'taken', provider: 'local' });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      const isAtField = async (field, text) => {
        await field.and(page.locator('[aria-invalid=true]')).waitFor();
        const id = await field.getAttribute('aria-describedby');
        await dialog.locator(`[id="${id}"]`).getByText(text).waitFor();
      };
      await page.getByRole('button', { name: 'New virtual key' }).click();
      await dialog.getByLabel('Provider', { exact: true }).selectOption('ollama');
      await dialog.getByLabel('Name', { exact: true }).fill('Another');
      await dialog.getByLabel('Address of the server').fill('ftp://127.0.0.1');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      const server = dialog.getByLabel('Address of the server');
      await isAtField(server, /^[A-Z]/);
      assert.ok(await server.evaluate((element) => element === document.activeElement));
      assert.equal(await dialog.getByRole('alert').count(), 0);
      await server.fill('http://127.0.0.1:1/v1');
      assert.equal(await server.getAttribute('aria-invalid'), null);
      await dialog.getByLabel('Slug').fill('taken');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await isAtField(dialog.getByLabel('Slug'), /taken|exists|used/i);

      await page.goto(`${address}/models`);
      await page.getByRole('button', { name: 'New route' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('refused');
      const target = dialog.getByRole('listitem').first();
      await target.getByLabel('Virtual key').selectOption('taken');
      await target.getByLabel('Model').fill('a b');
      await page.route('**/v1/model-routes', async (route) => {
        const body = route.request().postDataJSON();
        const targets = body.targets.map((each) => ({ ...each, model: '' }));
        await route.continue({ postData: JSON.stringify({ ...body, targets, unheard_of: true }) });
      });
      await dialog.getByRole('button', { name: 'Create route' }).click();
      await isAtField(target.getByLabel('Model'), /^Must /);
      await dialog.getByRole('alert').getByText('unheard_of is not a known field').waitFor();
    },
  },
  {
    title: 'What the gateway refuses of several controls together stands at these',
    run: async ({ tabs, page: address, adminKey, ask, url }) => {
      const { id: gone } = await ask('/v1/workspaces', { name: 'Soon gone', slug: 'soon-gone' });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      const isRefusedAt = async (legend, action) => {
        await dialog.getByRole('button', { name: action }).click();
        const group = dialog.getByRole('group', { name: legend });
        await group.getByRole('alert').waitFor();
        assert.equal(await dialog.getByRole('alert').count(), 1);
        assert.ok(await group.evaluate((element) => element.contains(document.activeElement)));
        return group;
      };
      await page.getByRole('button', { name: 'New reference' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Of a workspace that is gone');
      await dialog.getByLabel('Manager').selectOption('HashiCorp Vault');
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9');
      await dialog.getByLabel('Token').fill('s.token');
      await dialog.getByLabel('Secret', { exact: true }).fill('secret/openai');
      await dialog.getByLabel('Soon gone').check();
      await fetch(`${url}/v1/workspaces/${gone}`, {
        method: 'DELETE',
        headers: { 'x-gateway-api-key': adminKey },
      });
      const workspaces = await isRefusedAt('Workspaces that may use it', 'Save and test');
      await workspaces.getByLabel('Default').check();
      await workspaces.getByRole('alert').waitFor({ state: 'detached' });

      await page.goto(`${address}/settings?view=workspaces`);
      await page.getByRole('button', { name: 'New workspace' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Refused');
      await dialog.getByRole('button', { name: 'Add' }).click();
      await dialog.getByLabel('Name 1').fill('team');
      await page.route('**/v1/workspaces', async (route) => {
        const body = { ...route.request().postDataJSON(), defaults: { metadata: { team: 1 } } };
        await route.continue({ postData: JSON.stringify(body) });
      });
      const metadata = await isRefusedAt('Default metadata', 'Create workspace');
      await metadata.getByRole('button', { name: 'Remove team' }).click();
      await metadata.getByRole('alert').waitFor({ state: 'detached' });

      await page.goto(`${address}/settings?view=webhooks`);
      await page.getByRole('button', { name: 'New webhook' }).click();
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9/refused');
      await page.route('**/v1/webhooks', async (route) => {
        const body = { ...route.request().postDataJSON(), events: ['unheard_of'] };
        await route.continue({ postData: JSON.stringify(body) });
      });
      await isRefusedAt('Events', 'Create webhook');
    },
  },
  {
    title: 'Forms offer the virtual keys that the chosen workspace can use',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/workspaces', { name: 'Apart', slug: 'apart' });
      for (const [name, place] of Object.entries({ 'Of search': 'search', 'Of apart': 'apart', 'Of all': null })) {
        await ask('/v1/virtual-keys', { name, provider: 'local', workspace_id: place });
      }
      const page = await logIn(tabs, `${address}/models`, adminKey);
      const dialog = page.getByRole('dialog');
      const offered = async (label) => {
        const options = dialog.getByLabel(label).locator('option');
        await options.getByText('Of all').waitFor({ state: 'attached' });
        return (await options.allInnerTexts())
          .map((text) => text.split(' (')[0])
          .filter((name) => name.startsWith('Of '));
      };
      const offers = async (label) => {
        assert.deepEqual((await offered(label)).toSorted(), ['Of all', 'Of apart', 'Of search']);
        await dialog.getByLabel('Workspace').selectOption('Apart (apart)');
        assert.deepEqual((await offered(label)).toSorted(), ['Of all', 'Of apart']);
      };
      await page.getByRole('button', { name: 'New route' }).click();
      await offers('Virtual key');
      await page.goto(`${address}/keys`);
      await page.getByRole('button', { name: 'New key' }).click();
      await offers('Virtual key of calls that name none');
    },
  },
  {
    title: 'The first Tab after a log-in goes to the link that skips to the content',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, address, adminKey);
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), 'Skip to the content');
    },
  },
];
