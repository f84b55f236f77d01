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
      const shows = (count) => page.waitForFunction(rowsAre, count, { timeout: 10_000 });
      await shows(4);
      await page.getByLabel('Workspace', { exact: true }).selectOption('Sifted team');
      await shows(3);
      await page.getByLabel('Provider', { exact: true }).selectOption('Compatible with OpenAI');
      await shows(2);
      await page.getByLabel('Name of the model').fill('sifted-two');
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
      await page.getByText('No call here.').waitFor({ timeout: 10_000 });
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
];

/** In the page: whether its table has so many rows, beside that of the titles. */
function rowsAre(count) {
  return document.querySelectorAll('tbody tr').length === count;
}
