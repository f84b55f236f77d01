import assert from 'node:assert/strict';
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
        await table.getByText('haystack').first().waitFor({ state: 'detached', timeout: 5_000 });
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

const reference = (name) => ({
  name,
  manager_type: 'hashicorp_vault',
  secret_path: 'secret/openai',
  auth_config: { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' },
});
const webhook = (name) => ({ url: `https://hooks.example.com/${name}`, events: ['*'] });
