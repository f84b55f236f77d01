import assert from 'node:assert/strict';
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
      assert.equal((await call(adminKey, { model: '@unpriced/never-priced' })).status, 200);
      const page = await logIn(tabs, address, adminKey);
      const item = page.getByRole('listitem').filter({ hasText: 'never-priced' });
      await item.getByText('calls counted as $0.00 in the last day: 1').waitFor({ timeout: 20_000 });
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
      await item.waitFor({ state: 'detached', timeout: 20_000 });
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
      await page.locator('.recharts-bar-rectangle').first().waitFor({ timeout: 20_000 });
      // A pointer over the chart would choose a day as well.
      await page.mouse.move(0, 0);
      await page.getByLabel('Group the cost by').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      const chart = page.getByRole('application', { name: /^Cost by day/ });
      await chart.and(page.locator(':focus')).waitFor({ timeout: 5_000 });
      const dayOf = (back) => DAY.format(Date.now() - back * 86_400_000);
      const shown = page.getByRole('status');
      await shown.getByText(dayOf(6)).waitFor({ timeout: 5_000 });
      for (let back = 5; back >= 0; back -= 1) {
        await page.keyboard.press('ArrowRight');
        await shown.getByText(dayOf(back)).waitFor({ timeout: 5_000 });
      }
      await shown.getByText(`${model} : $`).waitFor({ timeout: 5_000 });
      await page.keyboard.press('ArrowLeft');
      await shown.getByText(dayOf(1)).waitFor({ timeout: 5_000 });
    },
  },
];

/** The next text of something that changes. */
async function laterThan(locator) {
  const text = await locator.innerText();
  const end = Date.now() + 5_000;
  while (Date.now() < end) {
    const next = await locator.innerText();
    if (next !== text) return next;
  }
  throw new Error(`${text} did not change`);
}
