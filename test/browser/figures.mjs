import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { hold } from './hold.mjs';
import { logIn } from './log-in.mjs';

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Figures and times of a page that stays open. */
export const figures = [
  {
    title: 'Times go on while a page stays open, and a rotated key counts down to the end of its old secret',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/api-keys', { name: 'rotated', level: 'organisation', scopes: ['usage.read'] });
      const page = await logIn(tabs, `${address}/audit`, adminKey);
      const used = page.getByRole('cell', { name: /ago$|^now$/ }).first();
      await laterThan(used);
      await page.goto(`${address}/keys?search=rotated`);
      await page.getByRole('button', { name: 'Rotate rotated' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('The old secret ends').selectOption('in a day');
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      const left = dialog.getByRole('timer');
      const [first, second] = [await left.innerText(), await laterThan(left)];
      assert.match(first, /^(24:00:00|23:59:\d\d)$/);
      assert.ok(second < first, `${first}, then ${second}`);
    },
  },
  {
    title: 'A model without a price needs attention when its calls were free too, and leads to where its price is set',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Unpriced', slug: 'unpriced', provider: 'openai-compatible', config });
      // Of the twenty with the most calls: other cases call a hundred such models once.
      for (let calls = 0; calls < 3; calls += 1)
        assert.equal((await call(adminKey, { model: '@unpriced/never-priced' })).status, 200);
      const page = await logIn(tabs, address, adminKey);
      // The chart's legend is a list, too.
      const item = page.getByRole('listitem').filter({ hasText: /^Model without a price.*never-priced/s });
      await item.getByText('calls counted as $0.00 in the last day: 3').waitFor();
      await item.getByRole('link', { name: 'never-priced' }).click();
      await page.getByRole('button', { name: 'New price' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Provider').selectOption('openai-compatible');
      await form.getByLabel('Model').fill('never-*');
      await form.getByLabel('Dollars for a million').fill('0.15');
      await form.getByRole('button', { name: 'Set price' }).click();
      await form.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText('Cost of the last 7 days').waitFor();
      await item.waitFor({ state: 'detached' });
    },
  },
  {
    title: 'The overview says that it counts attempts: a call that is tried again makes two',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const place = { provider: 'openai-compatible' };
      const failing = createServer((_request, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
      await once(failing, 'listening');
      const config = { base_url: `http://127.0.0.1:${failing.address().port}/v1` };
      await ask('/v1/virtual-keys', { ...place, name: 'Away', slug: 'away', config });
      await ask('/v1/virtual-keys', { ...place, name: 'Here', slug: 'here', config: { base_url: providerUrl } });
      const targets = [
        { virtual_key: 'away', model: 'tried-twice' },
        { virtual_key: 'here', model: 'tried-twice' },
      ];
      await ask('/v1/model-routes', { name: 'twice', targets });
      for (const unit of ['input', 'output']) {
        await ask('/v1/prices', { provider: 'openai-compatible', model: 'tried-twice', unit, price: '0.5' });
      }
      assert.equal((await call(adminKey, { model: 'twice' })).status, 200);
      failing.close();
      const page = await logIn(tabs, address, adminKey);
      await page.getByText('each retry included').waitFor();
      const table = page.getByRole('region', { name: 'By Model' });
      const titles = table.getByRole('columnheader');
      const row = table.getByRole('row', { name: /^tried-twice/ });
      await row.waitFor();
      const at = (await titles.allInnerTexts()).indexOf('Attempts');
      const cells = await row.getByRole('cell').allInnerTexts();
      assert.ok(Number(cells[at - 1]) >= 2, `${at}: ${cells.join(', ')}`);
    },
  },
  {
    title: 'Figures that are refused once, since too many reports run, are read again soon, and nothing says more',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      const asked = [];
      const error = { message: 'Too many reports are running; try again.', type: 'api_error', code: 'report_busy' };
      await page.route('**/v1/overview', async (route) => {
        asked.push(Date.now());
        if (asked.length > 1) return route.continue();
        const body = { error: { ...error, param: null, source: 'gateway' } };
        return route.fulfill({ status: 503, json: body });
      });
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByRole('alert').getByText('Too many reports are running').waitFor();
      assert.equal(await page.getByText('The gateway does not answer.').count(), 0);
      await page.getByText('This month').waitFor();
      // The interval of the page is 15 s.
      assert.ok(asked[1] - asked[0] < 10_000, `${asked[1] - asked[0]} ms`);
    },
  },
  {
    title: 'Arrow keys show the cost of each day in the chart',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Charted', slug: 'charted', provider: 'openai-compatible', config });
      const model = 'charted-model';
      for (const unit of ['input', 'output']) {
        await ask('/v1/prices', { provider: 'openai-compatible', model, unit, price: '0.05' });
      }
      assert.equal((await call(adminKey, { model: `@charted/${model}` })).status, 200);
      const page = await logIn(tabs, address, adminKey);
      await page.locator('.recharts-bar-rectangle').first().waitFor();
      // A pointer over the chart would choose a day as well.
      await page.mouse.move(0, 0);
      await page.getByLabel('Group the cost by').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      const chart = page.getByRole('application', { name: /^Cost by day/ });
      await chart.and(page.locator(':focus')).waitFor();
      const dayOf = (back) => DAY.format(Date.now() - back * 86_400_000);
      const shown = page.getByRole('status');
      await shown.getByText(dayOf(6)).waitFor();
      for (let back = 5; back >= 0; back -= 1) {
        await page.keyboard.press('ArrowRight');
        await shown.getByText(dayOf(back)).waitFor();
      }
      await shown.getByText(`${model} : $`).waitFor();
      await page.keyboard.press('ArrowLeft');
      await shown.getByText(dayOf(1)).waitFor();
    },
  },
  {
    title: 'The chart keeps the groups that it has until the figures of another grouping are there',
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Grouped', slug: 'grouped', provider: 'openai-compatible', config });
      const price = { provider: 'openai-compatible', model: 'grouped-model', price: '0.07' };
      for (const unit of ['input', 'output']) await ask('/v1/prices', { ...price, unit });
      assert.equal((await call(adminKey, { model: '@grouped/grouped-model' })).status, 200);
      const page = await logIn(tabs, address, adminKey);
      const titles = page.getByRole('table', { name: 'Cost by day' }).getByRole('columnheader');
      await titles.filter({ hasText: 'grouped-model' }).waitFor();
      const before = await titles.allTextContents();
      const release = await hold(page, /group_by=provider/);
      const asked = page.waitForRequest(/group_by=provider/);
      await page.getByLabel('Group the cost by').selectOption('Provider');
      await asked;
      await page.waitForTimeout(500);
      assert.deepEqual(await titles.allTextContents(), before);
      await release();
      await titles.filter({ hasText: 'openai-compatible' }).waitFor();
    },
  },
  {
    title: 'A limit of one workspace is shown, and tried out, with the calls of that workspace alone',
    run: async ({ tabs, page: address, adminKey, ask, keyWith, call, providerUrl }) => {
      const { id } = await ask('/v1/workspaces', { name: 'Alone', slug: 'alone' });
      await ask('/v1/workspaces', { name: 'Not alone', slug: 'not-alone' });
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Shared by both', slug: 'of-both', provider: 'openai-compatible', config });
      const place = { level: 'workspace', workspace_id: 'alone', scopes: ['completions.write'] };
      const { key } = await ask('/v1/api-keys', { name: 'inside', ...place });
      for (const each of [key, await keyWith(['completions.write'], 'outside')]) {
        assert.equal((await call(each, { model: '@of-both/shared-model' })).status, 200);
      }
      const page = await logIn(tabs, `${address}/limits`, adminKey);
      await page.getByRole('button', { name: 'New limit' }).click();
      const dialog = page.getByRole('dialog');
      const shown = dialog.getByRole('region', { name: 'What this limit would do' });
      const groups = shown.getByRole('listitem');
      await dialog.getByLabel('Name', { exact: true }).fill('Alone it counts');
      await dialog.getByLabel('Counts').selectOption('tokens');
      await dialog.getByLabel('Cap in tokens').fill('1');
      await dialog.getByLabel('is', { exact: true }).fill('shared-model');
      await shown.getByText('2 of 2 groups would have reached the cap').waitFor();
      await dialog.getByLabel('Workspace').selectOption(id);
      await shown.getByText('1 of 1 group would have reached the cap').waitFor();
      await groups.filter({ hasText: /^inside/ }).waitFor();
      assert.equal(await groups.count(), 1);
      await dialog.getByLabel('For calls whose').selectOption('workspace');
      await dialog.getByLabel('is', { exact: true }).selectOption('Not alone');
      await shown.getByText('No such call').waitFor();
      await dialog.getByLabel('is', { exact: true }).selectOption('Alone');
      await shown.getByText('1 of 1 group').waitFor();
      await dialog.getByLabel('For calls whose').selectOption('model');
      await dialog.getByRole('button', { name: 'Create limit' }).click();
      await page.getByText('Calls of workspace Alone, counted for each API key').waitFor();
      await page.getByRole('link', { name: 'Alone it counts' }).click();
      await page.getByText('Calls of workspace Alone, counted for each API key').waitFor();
      await page.getByRole('button', { name: 'Archive' }).click();
      await dialog.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('heading', { name: 'Limits' }).waitFor();

      await page.getByRole('button', { name: 'New limit' }).click();
      const asked = page.waitForRequest((each) => each.postData()?.includes(id) ?? false);
      await dialog.getByLabel('Workspace').selectOption(id);
      assert.ok((await asked).url().endsWith('/simulate'));
    },
  },
  {
    title: 'The cap and the alert of a limit are changed, and an alert above the cap is refused at its field',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      const fields = { conditions: [{ key: 'model', value: 'raised' }], group_by: [{ key: 'model' }], type: 'cost' };
      await ask('/v1/policies/usage-limits', { name: 'Raised', slug: 'raised', credit_limit: 5, ...fields });
      const page = await logIn(tabs, `${address}/limits/raised`, adminKey);
      await page.getByRole('button', { name: 'Change' }).click();
      const form = page.getByRole('dialog');
      assert.equal(await form.getByLabel('Cap in dollars').inputValue(), '5');
      await form.getByLabel('Cap in dollars').fill('7.5');
      await form.getByLabel('Alert at dollars').fill('8');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.locator('[data-param="alert_threshold"] [aria-invalid]').waitFor();
      await form.getByLabel('Alert at dollars').fill('6');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      await page.getByText('$7.50. Calls of model raised').waitFor();
      const { credit_limit, alert_threshold } = await ask('/v1/policies/usage-limits/raised');
      assert.deepEqual([credit_limit, alert_threshold], [7.5, 6]);
      await page.goto(`${address}/limits`);
      await page.getByRole('button', { name: 'New limit' }).click();
      await form.getByLabel('Name', { exact: true }).fill('With an alert');
      await form.getByLabel('Cap in dollars').fill('10');
      await form.getByLabel('Alert at dollars').fill('8');
      await form.getByRole('button', { name: 'Create limit' }).click();
      await page.getByRole('link', { name: 'With an alert' }).waitFor();
      const { data } = await ask('/v1/policies/usage-limits?search=With');
      assert.equal(data[0].alert_threshold, 8);
    },
  },
];

/** The next text of something that changes: after a minute, times of the past change once a minute. */
async function laterThan(locator) {
  const text = await locator.innerText();
  const end = Date.now() + 90_000;
  while (Date.now() < end) {
    const next = await locator.innerText();
    if (next !== text) return next;
    await new Promise((passed) => setTimeout(passed, 100));
  }
  throw new Error(`${text} did not change`);
}
