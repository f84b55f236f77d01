import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** What administrators do. */
export const stories = [
  {
    title: 'An administrator makes a virtual key, a limit and a key, and watches the limit fill and block',
    run: async ({ tabs, page: address, adminKey, providerUrl, call }) => {
      const page = await logIn(tabs, address, adminKey);
      await page.getByRole('link', { name: 'Providers' }).click();
      await page.getByRole('button', { name: 'New virtual key' }).click();
      await page.getByRole('dialog').getByLabel('Provider', { exact: true }).selectOption('openai-compatible');
      await page.getByLabel('Name', { exact: true }).fill('Scripted');
      await page.getByLabel('Slug').fill('scripted');
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText('Where does the server answer?').waitFor();
      await page.getByLabel('Address of the server').fill(providerUrl);
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText('The provider accepts the key.').waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('cell', { name: '@scripted' }).waitFor();

      await page.getByRole('link', { name: 'Limits' }).click();
      await page.getByRole('button', { name: 'New limit' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Tokens of each key');
      await page.getByLabel('Counts').selectOption('tokens');
      await page.getByLabel('Cap in tokens').fill('300');
      await page.getByLabel('When the cap is reached').selectOption('strict');
      await page.getByRole('button', { name: 'Create limit' }).click();
      await page
        .getByRole('row', { name: /Tokens of each key/ })
        .getByText('not used yet')
        .waitFor();

      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('chat application');
      await page.getByLabel('Virtual key of calls that name none').selectOption('Scripted');
      await page.getByRole('button', { name: 'Create key' }).click();
      const key = (await page.getByLabel('API key', { exact: true }).innerText()).trim();
      assert.match(key, /^tg_\w+$/);
      await page.getByLabel('Model', { exact: true }).fill('@scripted/gpt-x');
      const snippet = await page.getByLabel('Snippet for curl', { exact: true }).innerText();
      const body = JSON.parse(/-d '(.*)'/.exec(snippet)[1]);
      assert.equal((await call(key, body)).status, 200);
      await page.getByRole('button', { name: 'Claude Code' }).click();
      assert.ok((await page.getByLabel('Snippet for Claude Code', { exact: true }).innerText()).includes(key));
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByLabel('API key', { exact: true }).waitFor({ state: 'detached' });
      assert.equal(await page.getByText(key).count(), 0, 'the key is shown once');

      await page.getByRole('link', { name: 'Limits' }).click();
      const row = page.getByRole('row', { name: /Tokens of each key/ });
      await row.getByText('30 of').waitFor();
      let last;
      for (let calls = 0; calls < 20 && last !== 412; calls += 1) last = (await call(key, { model: 'gpt-x' })).status;
      assert.equal(last, 412);
      await row.getByText('refused a call').waitFor();

      await page.getByRole('link', { name: 'Tokens of each key' }).click();
      await page.getByRole('button', { name: /^Reset API key/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
      await page.getByRole('cell', { name: 'open', exact: true }).waitFor();
      const after = await call(key, { model: 'gpt-x' });
      assert.equal(after.status, 200, await after.text());

      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      await page.getByText('No limit here.').waitFor();
      await page.getByRole('link', { name: 'Calls' }).click();
      await page.getByLabel('Status').selectOption('refused');
      await page
        .getByRole('cell', { name: /usage_limit_exceeded/ })
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByRole('cell', { name: 'policies.reset', exact: true }).waitFor();
    },
  },
  {
    title: 'A failed test of a virtual key shows the true reason',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/virtual-keys', {
        name: 'Nowhere',
        slug: 'nowhere',
        provider: 'openai-compatible',
        config: { base_url: 'http://127.0.0.1:1/v1' },
      });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      await page.getByRole('button', { name: 'Test Nowhere' }).click();
      await page.getByText(/^connect/).waitFor();
      await ask('/v1/api-keys', {
        name: 'Bound to nowhere',
        level: 'organisation',
        scopes: ['completions.write'],
        allowed_virtual_keys: ['nowhere'],
      });
      await page.getByRole('button', { name: 'Delete Nowhere' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Bound to nowhere').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    },
  },
  {
    title: 'A deep link, a reload and the back button show the same list',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys?search=first`, adminKey);
      await page.getByRole('cell', { name: /^first admin key/ }).waitFor();
      assert.equal(await page.getByLabel('Search').inputValue(), 'first');
      await page.getByLabel('Search').fill('no such key');
      await page.getByText('No key here.').waitFor();
      assert.ok(page.url().includes('search=no'));
      await page.reload();
      await page.getByText('No key here.').waitFor();
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByRole('heading', { name: 'Audit log' }).waitFor();
      await page.goBack();
      await page.getByText('No key here.').waitFor();
    },
  },
  {
    title: 'Two tabs share a session, and both show the log-in page after one logged out',
    run: async ({ tabs, page: address, adminKey }) => {
      const one = await logIn(tabs, address, adminKey);
      const other = await tabs.newPage();
      await other.goto(`${address}/settings`);
      await other.getByText('this one').waitFor();
      await one.getByRole('button', { name: 'Log out' }).click();
      await one.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
      await other.getByRole('heading', { name: 'Log in to Tollgate' }).waitFor();
    },
  },
];
