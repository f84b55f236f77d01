import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { logIn } from './log-in.mjs';

const DAY_MS = 86_400_000;
const HOUR_SECONDS = 3_600;

/** What the filters of lists show, keep in the address and give to the CSV. */
export const filters = [
  {
    title: 'Calls are filtered by time, workspace, provider and model in the address, and so is their CSV',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Sifted', slug: 'sifted', provider: 'openai-compatible', config });
      await ask('/v1/virtual-keys', { name: 'Other', slug: 'sifted-vllm', provider: 'vllm', config });
      await ask('/v1/workspaces', { name: 'Sifted team', slug: 'sifted-team' });
      const place = { level: 'workspace', workspace_id: 'sifted-team', scopes: ['completions.write'] };
      const { key } = await ask('/v1/api-keys', { name: 'sifted', ...place });
      const made = [
        [key, '@sifted/sifted-one'],
        [key, '@sifted/sifted-two'],
        [key, '@sifted-vllm/sifted-one'],
        [adminKey, '@sifted/sifted-one'],
      ];
      for (const [by, model] of made) assert.equal((await call(by, { model })).status, 200);
      const page = await logIn(tabs, `${address}/calls?search=sifted-`, adminKey);
      const shows = (count) => page.waitForFunction(rowsAre, count);
      await shows(4);
      await page.getByLabel('Workspace', { exact: true }).selectOption('Sifted team');
      await shows(3);
      await page.getByLabel('Provider', { exact: true }).selectOption('Compatible with OpenAI');
      await shows(2);
      await page.getByLabel('Model name').fill('sifted-two');
      await shows(1);
      const asked = page.waitForRequest((request) => new URL(request.url()).searchParams.has('from'));
      await page.getByLabel('Time', { exact: true }).selectOption('In the last hour');
      const from = Number(new URL((await asked).url()).searchParams.get('from'));
      assert.ok(Math.abs(Date.now() / 1_000 - HOUR_SECONDS - from) < 60, `${from}`);
      await shows(1);
      await page.getByLabel('Time', { exact: true }).selectOption('On days …');
      const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
      await page.getByLabel('To day').fill(yesterday);
      await page.getByLabel('From day').fill(yesterday);
      await page.getByText('No call here.').waitFor();
      await page.getByLabel('To day').fill(new Date(Date.now() + DAY_MS).toISOString().slice(0, 10));
      await shows(1);
      await page.reload();
      await shows(1);
      assert.equal(await page.getByLabel('From day').inputValue(), yesterday);
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n');
      assert.equal(lines.length, 2, lines.join('\n'));
      assert.match(lines[1], /sifted-two/);
      const query = 'workspace=sifted-team&provider=vllm&time=nonsense&from=nonsense';
      await page.goto(`${address}/calls?search=sifted-&${query}`);
      await shows(1);
      await page.getByText('sifted-one').first().waitFor();
    },
  },
  {
    title: 'Both days of a time are kept when the second one is chosen before the page has the first',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/calls?time=days`, adminKey);
      await page.getByLabel('From day').waitFor();
      await page.evaluate(chooseAtOnce, { 'To day (UTC)': '2026-03-02', 'From day (UTC)': '2026-03-01' });
      await page.waitForURL(/from=2026-03-01/);
      await page.waitForURL(/to=2026-03-02/);
    },
  },
  {
    title: 'Virtual keys, model routes and API keys are filtered by the address, and so is their CSV',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl }) => {
      const config = { base_url: providerUrl };
      const team = { workspace_id: 'screened' };
      await ask('/v1/workspaces', { name: 'Screened', slug: 'screened' });
      for (const [slug, provider, more] of [
        ['screened-one', 'vllm', team],
        ['screened-two', 'vllm', {}],
        ['screened-three', 'openai-compatible', team],
      ]) {
        await ask('/v1/virtual-keys', { name: slug, slug, provider, config, ...more });
        await ask('/v1/model-routes', { name: slug, targets: [{ virtual_key: slug, model: 'm' }], ...more });
      }
      const scopes = ['completions.write'];
      await ask('/v1/api-keys', { name: 'screened service', level: 'workspace', ...team, scopes });
      const user = { type: 'user', user: { user_id: 'screened' } };
      await ask('/v1/api-keys', { name: 'screened user', level: 'workspace', ...team, ...user, scopes });
      await ask('/v1/api-keys', { name: 'screened shared', level: 'organisation', scopes });
      const page = await logIn(tabs, address, adminKey);
      const pages = [
        {
          place: 'providers',
          title: 'Virtual keys',
          choices: [
            ['Provider', 'vLLM', 2],
            ['Workspace', 'Screened', 1],
            ['State', 'Expired', 0],
          ],
        },
        { place: 'models', title: 'Model routes', choices: [['Workspace', 'Screened', 2]] },
        {
          place: 'keys',
          title: 'API keys',
          choices: [
            ['Workspace', 'Screened', 2],
            ['Type', 'Of users', 1],
          ],
        },
      ];
      for (const { place, title, choices } of pages) {
        await page.goto(`${address}/${place}?search=screened`);
        const rows = page.getByRole('table', { name: title }).getByRole('row');
        const shows = (count) => rows.nth(count).waitFor({ state: 'attached' });
        await shows(3);
        for (const [label, choice, count] of choices) {
          await page.getByLabel(label, { exact: true }).selectOption(choice);
          await rows.nth(count + 1).waitFor({ state: 'detached' });
          if (count === 0) continue;
          await page.reload();
          await shows(count);
          assert.equal(await rows.count(), count + 1);
          const card = page.locator('section').filter({ has: page.getByRole('table', { name: title }) });
          const download = page.waitForEvent('download');
          await card.getByRole('button', { name: 'CSV', exact: true }).click();
          const text = await readFile(await (await download).path(), 'utf8');
          assert.equal(text.trim().split('\r\n').length, count + 1, text);
        }
      }
    },
  },
  {
    title: 'A key with many browsers shows few of them, with this one first, and all when asked',
    run: async ({ tabs, url, page: address, ask }) => {
      const { key } = await ask('/v1/api-keys', { name: 'many tabs', level: 'organisation', scopes: ['usage.read'] });
      const page = await logIn(tabs, `${address}/settings`, key);
      const headers = { 'x-gateway-api-key': key, 'content-type': 'application/json' };
      for (let count = 0; count < 12; count += 1) {
        assert.equal((await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: '{}' })).status, 201);
      }
      await page.reload();
      const list = page.locator('section').filter({ hasText: 'Browsers that you are logged in with' });
      await list.getByRole('button', { name: 'Show all 13' }).waitFor();
      assert.equal(await list.getByRole('listitem').count(), 8);
      await list.getByRole('listitem').first().getByText('this one').waitFor();
      await list.getByRole('button', { name: 'Show all 13' }).click();
      await list.getByRole('listitem').nth(12).waitFor();
      assert.equal(await list.getByRole('listitem').count(), 13);
    },
  },
  {
    title: 'Prices of thousands have separators, and a new limit starts again after the days that were chosen',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const price = { provider: 'openai-compatible', model: 'dear-model', unit: 'input', price: '1.2345675' };
      await ask('/v1/prices', price);
      const page = await logIn(tabs, `${address}/models?view=prices&search=dear-model`, adminKey);
      await page.getByText('$1,234,567.50 per million', { exact: true }).waitFor();
      await page.goto(`${address}/limits`);
      await page.getByRole('button', { name: 'New limit' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name', { exact: true }).fill('Of ten days');
      await form.getByLabel('Cap in dollars').fill('5000');
      await form.getByLabel('Starts again', { exact: true }).selectOption('after some days');
      await form.getByLabel('Days until it starts again').fill('400');
      await form.getByRole('button', { name: 'Create limit' }).click();
      await form.getByText('A whole number from 1 to 365.').waitFor();
      await form.getByLabel('Days until it starts again').fill('10');
      await form.getByText(/last 10 days/).waitFor();
      await form.getByRole('button', { name: 'Create limit' }).click();
      await page.getByText('$5,000.00 per 10 days').waitFor();
      const { data } = await ask('/v1/policies/usage-limits?search=Of%20ten%20days');
      assert.deepEqual([data[0].periodic_reset, data[0].periodic_reset_days], [null, 10]);
    },
  },
];

/** In the page: gives values to fields by their labels, without a pause. */
function chooseAtOnce(values) {
  const property = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  for (const [label, value] of Object.entries(values)) {
    const field = document.querySelector(`[aria-label="${label}"]`);
    property.set.call(field, value);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

/** In the page: whether its table has so many rows, beside that of the titles. */
function rowsAre(count) {
  return document.querySelectorAll('tbody tr').length === count;
}
