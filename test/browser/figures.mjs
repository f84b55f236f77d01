import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

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
