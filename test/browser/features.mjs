import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { logIn } from './log-in.mjs';

/** What single pages offer beside the main story. */
export const features = [
  {
    title: 'A virtual key of Vertex AI asks for its place and a credentials file, and says why no token came',
    run: async ({ tabs, page: address, adminKey, providerUrl }) => {
      const page = await logIn(tabs, address, adminKey);
      await page.getByRole('link', { name: 'Providers' }).click();
      await page.getByRole('button', { name: 'New virtual key' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Provider', { exact: true }).selectOption('vertex');
      await form.getByLabel('Name', { exact: true }).fill('Google');
      await form.getByLabel('Slug').fill('of-google');
      await form.getByRole('button', { name: 'Save and test' }).click();
      await form.getByText('Which project pays?').waitFor();
      await form.getByText('Where are the models called?').waitFor();
      await form.getByLabel('Project').fill('my-project');
      await form.getByLabel('Location').fill('europe-west4');
      await form.getByLabel('Credentials file').fill('{"type":"authorized_user"}');
      await form.getByRole('button', { name: 'Save and test' }).click();
      await form.getByText('must be a credentials file of Google Cloud').waitFor();
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const file = {
        type: 'service_account',
        client_email: 'robot@my-project.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        token_uri: `${providerUrl}/no-token-here`,
      };
      await form.getByLabel('Credentials file').fill(JSON.stringify(file));
      await form.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText(/The test failed: http_404: nothing at/).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('cell', { name: '@of-google' }).waitFor();
      assert.equal(await page.getByText('PRIVATE KEY').count(), 0);
    },
  },
  {
    title: 'The chart of costs and the wizard of limits know all groups, however many there are',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Many', slug: 'many', provider: 'openai-compatible', config });
      for (const unit of ['input', 'output'])
        await ask('/v1/prices', { provider: 'openai-compatible', model: 'zz-dear', unit, price: '0.01' });
      const names = Array.from({ length: 100 }, (_, at) => `model-${at}`);
      for (const name of [...names, 'zz-dear'])
        await ask('/v1/chat/completions', { model: `@many/${name}`, messages: [{ role: 'user', content: 'Hi' }] });
      const page = await logIn(tabs, address, adminKey);
      const table = page.getByRole('table', { name: 'Cost by day' });
      await table.getByRole('columnheader', { name: 'zz-dear' }).waitFor();
      const titles = await table.getByRole('columnheader').allTextContents();
      const cell = table.getByRole('row').last().locator('th, td').nth(titles.indexOf('zz-dear'));
      await cell.filter({ hasText: /[1-9]/ }).waitFor();
      await page.getByRole('link', { name: 'Limits', exact: true }).click();
      await page.getByRole('button', { name: 'New limit' }).click();
      await page.getByLabel('Counted for each').selectOption('model');
      const preview = page.getByRole('region', { name: 'What this limit would do' });
      await preview.getByRole('listitem').first().getByText('zz-dear').waitFor();
    },
  },
  {
    title: 'A list is downloaded as CSV with its search, and formulas in it are text',
    run: async ({ tabs, page: address, adminKey, keyWith }) => {
      await keyWith(['usage.read'], '=1+1 of csv');
      const page = await logIn(tabs, `${address}/keys?search=of%20csv`, adminKey);
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      const text = await readFile(await (await waiting).path(), 'utf8');
      assert.match(text, /^id,/);
      assert.ok(text.includes(",'=1+1 of csv,"), text);
      assert.equal(text.trim().split('\r\n').length, 2);
      await page.route(/page_size=100/, (route) =>
        route.fulfill({ status: 200, headers: { 'x-total-count': '20000' }, body: 'id\r\n1\r\n' }),
      );
      const rest = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      await page.getByText('The first 10,000 of 20,000 rows.').waitFor();
      await (await rest).delete();
    },
  },
  {
    title: 'The wizard of limits shows what a limit would have done, and a monitoring limit is made strict',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/limits`, adminKey);
      await page.getByRole('button', { name: 'New limit' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Tried first');
      await page.getByLabel('Counts').selectOption('tokens');
      await page.getByLabel('Cap in tokens').fill('1');
      const shown = page.getByRole('region', { name: 'What this limit would do' });
      await shown.getByText(/would have reached the cap|No such call/).waitFor();
      await shown.getByText('Such a call today:').waitFor();
      await page.getByRole('button', { name: 'Create limit' }).click();
      await page.getByRole('link', { name: 'Tried first' }).click();
      await page.getByRole('button', { name: 'Make strict' }).click();
      await page.getByRole('button', { name: 'Make strict' }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('heading', { name: 'Limits' }).waitFor();
    },
  },
  {
    title: 'Nothing says that a limit refuses calls that only counts them, or that a limit without a cap is reached',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Counted', slug: 'counted', provider: 'openai-compatible', config });
      await ask('/v1/policies/usage-limits', {
        name: 'Counts only',
        conditions: [{ key: 'virtual_key', value: 'counted' }],
        group_by: [{ key: 'virtual_key' }],
        type: 'tokens',
        credit_limit: 1,
        enforcement: 'monitor',
      });
      assert.equal((await call(adminKey, { model: '@counted/costs-nothing' })).status, 200);
      const page = await logIn(tabs, address, adminKey);
      const item = page.getByRole('listitem').filter({ hasText: 'Counts only' }).filter({ hasText: 'used' });
      await item.getByText('Limit exceeded').waitFor();
      await item.getByRole('link').click();
      await page.getByRole('link', { name: 'Counts only' }).click();
      await page.getByRole('cell', { name: 'exceeded' }).waitFor();

      await page.goto(`${address}/limits`);
      await page.getByRole('button', { name: 'New limit' }).click();
      const report = page.waitForResponse((answer) => answer.url().includes('model=costs-nothing'));
      await page.getByLabel('is', { exact: true }).fill('costs-nothing');
      await report;
      const shown = page.getByRole('region', { name: 'What this limit would do' });
      await shown.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
      await shown.getByText('What groups have used').waitFor();
      assert.equal(await shown.getByRole('meter').getAttribute('aria-valuenow'), '0');
    },
  },
  {
    title:
      'A virtual key takes its key from a secret reference, whose test gives the reason, and which names its users',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/secret-references', {
        name: 'Vault of the team',
        manager_type: 'vendorC_vault',
        secret_path: 'secret/openai',
        auth_config: { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' },
      });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      await page.getByRole('button', { name: 'New virtual key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Referenced');
      await page.getByLabel('Where the key is').selectOption({ label: 'Vault of the team (HashiCorp Vault)' });
      assert.equal(await page.getByLabel('Key of the provider').count(), 0);
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText(/^The test failed: \S/).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row', { name: /Vault of the team/ });
      await row.getByRole('cell', { name: 'Referenced' }).waitFor();
    },
  },
  {
    title:
      'An MCP server is made, tested, changed and deleted, and its preview drops the identity that a client claims',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const page = await logIn(tabs, `${address}/mcp`, adminKey);
      await page.getByRole('button', { name: 'New server' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Preview');
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText('Where does the server answer?').waitFor();
      await page.getByLabel('Address of the server').fill('http://127.0.0.1:9/mcp');
      await page.getByLabel('How the server learns who the user is').selectOption('claims_header');
      await page.getByRole('button', { name: 'Save and test' }).click();
      await page.getByText(/^The test failed: \S/).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row', { name: /\/preview\/mcp/ });
      await row.getByText('no call yet').waitFor();
      const called = await fetch(new URL('/preview/mcp', address), {
        method: 'POST',
        headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
      assert.equal(called.status, 502);
      await row.getByText(/^failed .*: cannot be reached$/).waitFor();
      await page.getByRole('link', { name: 'Preview', exact: true }).click();
      await page.getByText(/^failed .*: cannot be reached$/).waitFor();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('names the user.').waitFor();
      const received = await page.locator('main dl').last().innerText();
      assert.ok(received.toLowerCase().includes('x-user-claims'), received);
      assert.ok(!received.includes('somebody else'), received);

      const before = await ask('/v1/mcp-servers/preview');
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address of the server').fill('not an address');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText('Where does the server answer?').waitFor();
      await dialog.getByLabel('Address of the server').fill(before.url);
      await dialog.getByLabel('Name', { exact: true }).fill('Previewed');
      await dialog.getByLabel('Clients may call it').uncheck();
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('heading', { name: 'Previewed' }).waitFor();
      const after = await ask('/v1/mcp-servers/preview');
      assert.deepEqual(after, { ...before, name: 'Previewed', enabled: false, updated_at: after.updated_at });

      await ask('/v1/api-keys', {
        name: 'Bound to the server',
        level: 'organisation',
        scopes: ['mcp.invoke'],
        allowed_mcp_servers: ['preview'],
      });
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await dialog.getByText('Bound to the server').waitFor();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.waitForURL('**/console/mcp');
      assert.equal((await ask('/v1/mcp-servers?search=Previewed')).total, 0);
    },
  },
  {
    title: 'A webhook shows its secret once, sends the chosen events, a test event and a delivery again',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const page = await logIn(tabs, `${address}/settings?view=webhooks`, adminKey);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'New webhook' }).click();
      await dialog.getByLabel('Address').fill('http://127.0.0.1:9/hook');
      await dialog.getByLabel('All, also those that come later').uncheck();
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByText('Choose at least one event.').waitFor();
      await dialog.getByLabel('A limit is used up').check();
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      const secret = await dialog.getByLabel('Secret of the webhook', { exact: true }).textContent();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Change http://127.0.0.1:9/hook' }).click();
      assert.ok(await dialog.getByLabel('A limit is used up').isChecked());
      await dialog.getByLabel('A secret cannot be read').check();
      await dialog.getByLabel('Description').fill('For the on-call team.');
      await dialog.getByLabel('Events are sent').uncheck();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('For the on-call team.').waitFor();
      const { data } = await ask('/v1/webhooks');
      const { events, enabled } = data.find(({ url }) => url === 'http://127.0.0.1:9/hook');
      assert.deepEqual([events.toSorted(), enabled], [['secret_reference.failed', 'usage_limit.exhausted'], false]);
      await page.getByRole('button', { name: 'Change http://127.0.0.1:9/hook' }).click();
      await dialog.getByLabel('Events are sent').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Deliveries http://127.0.0.1:9/hook' }).click();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      const row = page.getByRole('row', { name: /webhook\.test/ }).first();
      await row.getByText('connect', { exact: true }).waitFor();
      await page.getByLabel('Result').selectOption('succeeded');
      await page.getByText('No delivery here.').waitFor();
      await page.getByLabel('Result').selectOption('failed');
      await page.getByText('No delivery here.').waitFor();
      await page.getByLabel('Result').selectOption('pending');
      await page.getByLabel('Event').selectOption('A limit is used up');
      await page.getByText('No delivery here.').waitFor();
      await page.getByLabel('Event').selectOption('A test');
      await page.getByRole('searchbox').fill('CONNECT');
      await row.waitFor();
      await page.reload();
      await row.waitFor();
      assert.equal(await page.getByLabel('Event').inputValue(), 'webhook.test');
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      const table = await readFile(await (await download).path(), 'utf8');
      assert.equal(table.trim().split('\r\n').length, 2, table);
      await page.getByRole('link', { name: 'all webhooks' }).click();
      await page.getByRole('button', { name: 'Rotate http://127.0.0.1:9/hook' }).click();
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      await dialog.getByText(/the old secret too/).waitFor();
      const text = await dialog.getByLabel('Secret of the webhook', { exact: true }).textContent();
      assert.match(text, /^whsec_/);
      assert.notEqual(text, secret);
    },
  },
  {
    title: 'The catalogue of models keeps its filters in the address, and a price of the organisation takes precedence',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/models`, adminKey);
      await page.getByRole('link', { name: 'Catalogue' }).click();
      await page.getByLabel('Provider').selectOption('Cohere');
      await page.getByLabel('Search').fill('rerank-v3.5');
      const row = page.getByRole('row', { name: /rerank-v3\.5/ });
      await row.getByText('Search units:').waitFor();
      await row.getByText('4.1K').waitFor();
      await page.waitForURL(/view=catalogue.*provider=cohere.*search=rerank-v3\.5/);
      await page.reload();
      await row.getByRole('link', { name: 'All prices of rerank-v3.5' }).click();
      await page
        .getByRole('cell', { name: /read 2026-/ })
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'New price' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Provider').selectOption('Cohere');
      await form.getByLabel('Model').fill('rerank-v3.5');
      await form.getByLabel('What is priced').selectOption('Search units');
      await form.getByLabel('Dollars for one').fill('half');
      await form.getByRole('button', { name: 'Set price' }).click();
      await form.getByText('A number of dollars, such as 0.15.').waitFor();
      await form.getByLabel('Dollars for one').fill('0.0007');
      await form.getByRole('button', { name: 'Set price' }).click();
      await page.getByRole('row', { name: /\$0\.0007 each.*your own/ }).waitFor();
      await page.goBack();
      await row.getByText('$0.0007 each').waitFor();
      await page.getByLabel('Search').fill('gpt-4o-mini');
      await page.getByLabel('Provider').selectOption('OpenAI');
      await page.getByText('$0.15 per million').first().waitFor();
    },
  },
];
