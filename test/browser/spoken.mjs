import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** What a screen reader says without being asked. */
export const spoken = [
  {
    title: 'Screen readers hear which page is shown, and what came of a form and of a deletion',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/settings?view=workspaces`, adminKey);
      const says = (words) => page.locator('main > [role=status]').getByText(words).waitFor();
      await page.getByRole('button', { name: 'New workspace' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('Heard');
      await dialog.getByRole('button', { name: 'Create workspace' }).click();
      await says('The workspace is saved.');
      await page.getByRole('button', { name: 'Delete Heard' }).click();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await says('Delete Heard: done.');
      await page.getByRole('link', { name: 'API keys' }).click();
      await says('API keys');
      await page.goto(`${address}/no-such-page`);
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
      await page.goto(`${address}/mcp/no-such-server`);
      await page.getByRole('alert').getByText('The resource does not exist.').waitFor();
      await page.getByRole('heading', { level: 1, name: 'MCP server', exact: true }).waitFor();
    },
  },
  {
    title: 'Screen readers hear what a search has found',
    run: async ({ tabs, page: address, adminKey, keyWith }) => {
      await keyWith(['usage.read'], 'one to be found');
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const says = (words) => page.locator('main [role=status]').getByText(words).waitFor();
      await says(/^API keys: \d+ rows/);
      await page.getByRole('searchbox').fill('one to be found');
      await says('API keys: 1 row.');
      await page.getByRole('searchbox').fill('no such key anywhere');
      await says('API keys: nothing found.');
    },
  },
  {
    title: 'Screen readers hear why a log-in failed, and which session a button ends',
    run: async ({ tabs, newTabs, page: address, keyWith }) => {
      const key = await keyWith(['usage.read'], 'heard');
      const page = await tabs.newPage();
      await page.goto(address);
      await page.getByLabel('API key').fill('tg_wrong');
      await page.getByLabel('API key').press('Enter');
      await page.getByRole('alert').getByText('The gateway API key is missing or not valid.').waitFor();
      const elsewhere = await newTabs();
      await logIn(elsewhere, address, key);
      await elsewhere.close();
      const own = await logIn(tabs, `${address}/settings`, key);
      await own.getByRole('button', { name: /^End the session of Chrome on .*, logged in / }).click();
      await own.locator('main > [role=status]').getByText('The session has ended.').waitFor();
    },
  },
  {
    title: 'The buttons that send deliveries again have names of their own',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const { id } = await ask('/v1/webhooks', { url: 'http://127.0.0.1:9/named', events: ['*'] });
      for (let time = 0; time < 2; time += 1) {
        await ask(`/v1/webhooks/${id}/test`, {});
        await new Promise((passed) => setTimeout(passed, 1_100));
      }
      const page = await logIn(tabs, `${address}/settings/webhooks/${id}`, adminKey);
      const buttons = page.getByRole('button', { name: /^Send again/ });
      await buttons.nth(1).waitFor();
      const names = await buttons.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
      assert.equal(new Set(names).size, 2, names.join(', '));
    },
  },
];
