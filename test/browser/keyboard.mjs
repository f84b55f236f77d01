import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

const LONG = 'far-too-long-'.repeat(6);
const CLOSE_PX = 36;

/** What works without a mouse. */
export const keyboard = [
  {
    title: 'A field that Tab reaches is not behind the buttons of its form, and the focus goes back to the opener',
    run: async ({ tabs, page: address, adminKey, ask }) => {
      await ask('/v1/virtual-keys', { name: LONG, slug: 'long-title', provider: 'local' });
      const page = await logIn(tabs, `${address}/models`, adminKey);
      const opener = page.getByRole('button', { name: 'New route' });
      await opener.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Add a target' }).press('Enter');
      await dialog.getByLabel('Name', { exact: true }).focus();
      const reached = new Set();
      const hidden = [];
      for (let press = 0; press < 40; press += 1) {
        await page.keyboard.press('Tab');
        const { name, isCovered } = await page.evaluate(focused);
        reached.add(name);
        if (isCovered) hidden.push(name);
      }
      assert.ok(reached.has('Create route') && reached.has('Close'), [...reached].join(', '));
      assert.deepEqual(hidden, []);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.ok(await opener.evaluate((element) => element === document.activeElement));

      await page.goto(`${address}/providers?search=far-too-long`);
      await page.getByRole('button', { name: `Delete ${LONG}` }).press('Enter');
      assert.equal((await dialog.getByRole('button', { name: 'Close' }).boundingBox()).width, CLOSE_PX);
    },
  },
  {
    title: 'A key that is made from the keyboard is shown in a dialog that has the focus',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      await page.getByRole('button', { name: 'New key' }).press('Enter');
      await page.keyboard.type('typed');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'The key is ready' });
      await dialog.waitFor();
      assert.ok(await dialog.evaluate((element) => element.contains(document.activeElement)));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const opener = page.getByRole('button', { name: 'New key' });
      assert.ok(await opener.evaluate((element) => element === document.activeElement));
    },
  },
  {
    title: 'A button that the keyboard presses keeps the focus when its work is done',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/providers?search=local`, adminKey);
      const button = page.getByRole('button', { name: 'Test Local reranker' });
      const answer = page.waitForResponse((each) => each.url().endsWith('/test'));
      await button.press('Enter');
      await answer;
      await page.getByRole('button', { name: 'Test Local reranker', disabled: false }).waitFor();
      // The browser takes the focus of a disabled button away when it next draws.
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100))));
      assert.ok(await button.evaluate((element) => element === document.activeElement));
    },
  },
];

/** In the page: what has the focus, and whether something lies over it. */
function focused() {
  const element = document.activeElement;
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return {
    name: element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent,
    isCovered: element !== document.body && !element.contains(top),
  };
}
