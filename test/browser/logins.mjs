import assert from 'node:assert/strict';

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
      await ask('/v1/workspaces', { name: 'Search team', slug: 'search' });
      await ask('/v1/api-keys', {
        name: 'key of the whole organisation',
        level: 'organisation',
        scopes: ['usage.read'],
      });
      nextUser({ sub: 'mem', groups: ['team'] });
      const page = await logInAtProvider(tabs, `${address}/keys`);
      await page.getByText('Search team').first().waitFor();
      await page.getByText('No key here.').waitFor();
      assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
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
];
