import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** What administrators change, and the warnings before something breaks. */
export const resources = [
  {
    title: 'A workspace is renamed, and deleted only when nothing belongs to it',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/workspaces', { name: 'Passing', slug: 'passing' });
      await ask('/v1/api-keys', { name: 'kept', level: 'workspace', workspace_id: 'passing', scopes: ['usage.read'] });
      const page = await logIn(tabs, `${address}/settings`, adminKey);
      await page.getByRole('link', { name: 'Workspaces' }).click();
      await page.getByRole('button', { name: 'Change Passing' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Leaving');
      await page.getByLabel('Description').fill('Ends in spring.');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByLabel('Name 1').fill('team');
      await page.getByLabel('Value 1').fill('shop');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: 'Ends in spring.' }).waitFor();
      assert.deepEqual((await ask('/v1/workspaces/passing')).defaults, { metadata: { team: 'shop' } });
      await page.getByRole('button', { name: 'Delete Leaving' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('API keys: 1').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled());
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'New workspace' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Short');
      await page.getByRole('button', { name: 'Create workspace' }).click();
      await page.getByRole('button', { name: 'Delete Short' }).click();
      await dialog.getByText('No keys, limits or servers belong to it.').waitFor();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete Short' }).waitFor({ state: 'detached' });
    },
  },
  {
    title: 'A workspace keeps what its calls say once its form says so, and only callers with the scope see it',
    run: async ({ tabs, newTabs, page: address, adminKey, ask, call, keyWith, providerUrl }) => {
      await ask('/v1/workspaces', { name: 'Debugging', slug: 'debugging' });
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Debugged', slug: 'debugged', provider: 'openai-compatible', config });
      const page = await logIn(tabs, `${address}/settings?view=workspaces`, adminKey);
      await page.getByRole('button', { name: 'Change Debugging' }).click();
      await page.getByLabel('Keep what calls send and get').check();
      await page.getByLabel('Days').fill('31');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('must not be greater than 30').waitFor();
      await page.getByLabel('Days').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const rules = { sample_rate: 1, max_bytes: 65_536, retention_days: 3 };
      assert.deepEqual((await ask('/v1/workspaces/debugging')).log_bodies, rules);

      const inWorkspace = { level: 'workspace', workspace_id: 'debugging', scopes: ['completions.write'] };
      const { key } = await ask('/v1/api-keys', { name: 'debugged application', ...inWorkspace });
      const messages = [{ role: 'user', content: 'Why is the sky blue?' }];
      assert.equal((await call(key, { model: '@debugged/sky', messages })).status, 200);
      const details = async (tab) => {
        await tab.goto(`${address}/calls?search=sky`);
        await tab.getByRole('button', { name: /^Show/ }).first().click();
        return tab.getByRole('dialog');
      };
      const dialog = await details(page);
      await dialog.getByRole('button', { name: 'Show what was sent and answered' }).click();
      await dialog.getByLabel('Sent', { exact: true }).getByText('Why is the sky blue?').waitFor();
      await dialog.getByLabel('Answered', { exact: true }).getByText('chat.completion').waitFor();

      const others = await newTabs();
      const other = await details(await logIn(others, address, await keyWith(['logs.list'])));
      await other.getByText('Trace').waitFor();
      assert.equal(await other.getByRole('button', { name: 'Show what was sent' }).count(), 0);
      await others.close();
    },
  },
  {
    title: 'Members are shown beside the groups that give roles, and an administrator logs one out',
    run: async ({ tabs, newTabs, page: address, adminKey, nextUser }) => {
      nextUser({ sub: 'olga', groups: ['owners'] });
      const other = await newTabs();
      const person = await other.newPage();
      await person.goto(address);
      await person.getByRole('link', { name: 'Log in with your organisation' }).click();
      await person.getByText('olga@example.com').waitFor();
      const page = await logIn(tabs, `${address}/settings?view=members`, adminKey);
      await page
        .getByRole('row', { name: /olga@example\.com/ })
        .getByText('owner')
        .first()
        .waitFor();
      await page
        .getByRole('row', { name: /^leads/ })
        .getByText('search', { exact: true })
        .waitFor();
      await page.getByRole('button', { name: 'Log out olga@example.com' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Log out', exact: true }).click();
      await page.getByRole('row', { name: /olga@example\.com/ }).waitFor({ state: 'detached' });
      await person.reload();
      await person.getByRole('link', { name: 'Log in with your organisation' }).waitFor();
      await other.close();
    },
  },
  {
    title: 'A secret reference is made, tested and changed, keeps its credentials, and is not deleted while it is used',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'New reference' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('OpenAI in Vault');
      await dialog.getByLabel('Manager').selectOption('HashiCorp Vault');
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9');
      await dialog.getByLabel('Token').fill('s.first-token');
      await dialog.getByLabel('Secret', { exact: true }).fill('secret/openai');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText(/^The test failed: \S/).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Change OpenAI in Vault' }).click();
      assert.equal(await dialog.getByLabel('Token').inputValue(), '');
      await dialog.getByLabel('Key inside of it').fill('api_key');
      await dialog.getByLabel('Search team').check();
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText(/^The test failed: \S/).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      const reference = await ask('/v1/secret-references/openai-in-vault');
      assert.equal(reference.secret_key, 'api_key');
      assert.equal(reference.allow_all_workspaces, false);
      assert.equal(reference.allowed_workspaces.length, 1);
      assert.match(reference.auth_config.masked_vault_token, /\*/);
      await ask('/v1/virtual-keys', {
        name: 'User of it',
        provider: 'openai',
        workspace_id: 'search',
        secret_mappings: [{ target_field: 'key', secret_reference_id: reference.id }],
      });
      await page.reload();
      await page.getByRole('button', { name: 'Delete OpenAI in Vault' }).click();
      await dialog.getByText('It cannot be deleted while it is used by User of it.').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled());
    },
  },
  {
    title: 'A workspace that is deleted while a form has it chosen can be taken away there',
    run: async ({ tabs, url, page: address, adminKey, ask }) => {
      const { id } = await ask('/v1/workspaces', { name: 'Soon deleted', slug: 'soon-deleted' });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'New reference' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('For no one');
      await dialog.getByLabel('Manager').selectOption('HashiCorp Vault');
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9');
      await dialog.getByLabel('Token').fill('s.token');
      await dialog.getByLabel('Secret', { exact: true }).fill('secret/openai');
      await dialog.getByLabel('Soon deleted').check();
      await dialog.getByLabel('Search team').check();
      await fetch(`${url}/v1/workspaces/${id}`, { method: 'DELETE', headers: { 'x-gateway-api-key': adminKey } });
      const save = dialog.getByRole('button', { name: 'Save and test' });
      await save.click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel(`unknown workspace ${id}`).click();
      await save.click();
      await dialog.getByRole('button', { name: 'Done' }).waitFor();
      assert.equal((await ask('/v1/secret-references/for-no-one')).allowed_workspaces.length, 1);
    },
  },
  {
    title: 'A key gets the virtual key that its form shows, after another workspace was chosen too',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/workspaces', { name: 'Chosen later', slug: 'chosen-later' });
      await ask('/v1/virtual-keys', { name: 'Only of search', provider: 'local', workspace_id: 'search' });
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'New key' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('without a virtual key');
      const virtualKey = dialog.getByLabel('Virtual key of calls that name none');
      await virtualKey.selectOption('Only of search');
      await dialog.getByLabel('Workspace').selectOption('Chosen later (chosen-later)');
      assert.equal(await virtualKey.inputValue(), '');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('Copy the key now').or(dialog.locator('[aria-invalid=true]')).first().waitFor();
      const { data } = await ask('/v1/api-keys?search=without+a+virtual+key');
      assert.deepEqual(
        data.map(({ default_virtual_key: id }) => id),
        [null],
      );
    },
  },
  {
    title: 'The settings say which version runs',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/settings`, adminKey);
      await page.getByText(/^Tollgate \d+\.\d+\.\d+/).waitFor();
    },
  },
  {
    title: 'A model route is made and changed, keeps what its form does not show, and is deleted',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl, call }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Routed', slug: 'routed', provider: 'openai-compatible', config });
      const page = await logIn(tabs, `${address}/models`, adminKey);
      const dialog = page.getByRole('dialog');
      const target = (at) => dialog.getByRole('listitem').nth(at);
      await page.getByRole('button', { name: 'New route' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('made-here');
      await dialog.getByRole('button', { name: 'Add a target' }).click();
      for (const [at, model] of ['unknown', 'gpt-4o-mini'].entries()) {
        await target(at).getByLabel('Virtual key').selectOption('routed');
        await target(at).getByLabel('Model').fill(model);
      }
      await dialog.getByRole('button', { name: 'Move target 2 up' }).click();
      await dialog.getByRole('button', { name: 'Create route' }).click();
      await page.getByRole('button', { name: 'Change made-here' }).waitFor();
      assert.deepEqual(
        (await ask('/v1/model-routes/made-here')).targets.map(({ model }) => model),
        ['gpt-4o-mini', 'unknown'],
      );
      assert.equal((await call(adminKey, { model: 'made-here' })).status, 200);

      const condition = { key: 'metadata.tier', value: ['gold', 'new'], excludes: 'gold-old' };
      const bounds = {
        min_estimated_tokens: 5,
        max_estimated_tokens: 900,
        min_budget_left: 0.125,
        base_model: 'gpt-4o',
      };
      const kept = { virtual_key: 'routed', model: 'kept', order: 0, weight: 2, conditions: [condition], ...bounds };
      const other = { virtual_key: 'routed', model: 'other', order: 0, weight: 1 };
      await ask('/v1/model-routes', { name: 'full', targets: [kept, other], clamp_output: true });
      await page.reload();
      await page.getByRole('button', { name: 'Change full' }).click();
      await target(1).getByLabel('Share').fill('7');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      const { targets, clamp_output: clamp } = await ask('/v1/model-routes/full');
      assert.deepEqual([targets[0], targets[1].weight, clamp], [{ ...kept, timeout_ms: null }, 7, true]);

      await ask('/v1/api-keys', {
        name: 'Bound',
        level: 'organisation',
        scopes: ['completions.write'],
        allowed_models: ['full'],
      });
      await page.reload();
      await page.getByRole('button', { name: 'Delete full' }).click();
      await dialog.getByText('Bound').waitFor();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete full' }).waitFor({ state: 'detached' });
    },
  },
  {
    title: 'The log of calls has pages that new calls do not move',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Paged', slug: 'paged', provider: 'openai-compatible', config });
      const use = async (model) => assert.equal((await call(adminKey, { model: `@paged/${model}` })).status, 200);
      for (let number = 0; number < 101; number += 1) await use(`old-${number}`);
      const page = await logIn(tabs, `${address}/calls?search=old-`, adminKey);
      const old = (number) => page.getByText(`old-${number}`, { exact: true });
      await old(100).waitFor();
      await page.getByRole('button', { name: 'Older' }).click();
      await old(50).waitFor();
      await old(51).waitFor({ state: 'detached' });
      await use('old-new');
      // The list is read again every five seconds.
      await page.waitForResponse((answer) => answer.url().includes('/v1/logs?') && answer.ok());
      await page.waitForResponse((answer) => answer.url().includes('/v1/logs?') && answer.ok());
      assert.deepEqual([await old(50).count(), await old(51).count(), await old(1).count()], [1, 0, 1]);
      await page.getByRole('button', { name: 'Older' }).click();
      await old(0).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Older' }).isDisabled(), true);
      await page.goBack();
      await old(50).waitFor();
      await page.getByRole('button', { name: 'Newest' }).click();
      await page.getByText('old-new', { exact: true }).waitFor();
    },
  },
];
