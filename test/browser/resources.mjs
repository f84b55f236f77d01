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
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: 'Ends in spring.' }).waitFor();
      await page.getByRole('button', { name: 'Delete Leaving' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('API keys: 1').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled());
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByLabel('Name of the new workspace').fill('Short');
      await page.getByRole('button', { name: 'Add workspace' }).click();
      await page.getByRole('button', { name: 'Delete Short' }).click();
      await dialog.getByText('No keys, limits or servers belong to it.').waitFor();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete Short' }).waitFor({ state: 'detached' });
    },
  },
  {
    title: 'The members of an organisation are who is logged in, beside the groups that give roles',
    run: async ({ tabs, browser, page: address, adminKey, nextUser }) => {
      nextUser({ sub: 'olga', groups: ['owners'] });
      const other = await browser.newContext();
      const person = await other.newPage();
      await person.goto(address);
      await person.getByRole('link', { name: 'Log in with your organisation' }).click();
      await person.getByText('olga@example.com').waitFor();
      await other.close();
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
];
