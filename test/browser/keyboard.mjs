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
    title: 'The focus stays where someone puts it while a dialog closes',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await page.evaluate(() => {
        document.querySelector('dialog [aria-label=Close]').click();
        document.querySelector('input[type=search]').focus();
      });
      await dialog.waitFor({ state: 'detached' });
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100))));
      assert.ok(await page.getByRole('searchbox').evaluate((element) => element === document.activeElement));
    },
  },
  {
    title:
      'What a button of a form adds or brings about stays in sight in a small window, and what a tool says is read out',
    run: async ({ tabs, page: address, adminKey, ask, toolsUrl }) => {
      await ask('/v1/mcp-servers', { name: 'Small', slug: 'small', url: toolsUrl });
      await ask('/v1/mcp-servers/small/test', {});
      const page = await logIn(tabs, `${address}/models`, adminKey);
      await page.setViewportSize({ width: 360, height: 640 });
      const dialog = page.getByRole('dialog');
      const hidden = [];
      const add = async (name) => {
        const button = dialog.getByRole('button', { name, exact: true });
        for (let press = 0; press < 4; press += 1) {
          await button.click();
          if (!(await isShown(button))) hidden.push(`${name} ${press}`);
        }
      };
      await page.getByRole('button', { name: 'New route' }).click();
      await dialog.locator('summary').first().click();
      await add('Add a condition');
      await add('Add a target');
      await page.goto(`${address}/settings?view=workspaces`);
      await page.getByRole('button', { name: 'Change Search team' }).click();
      await add('Add');

      await page.route('**/v1/workspaces/*', (route) => route.abort());
      await dialog.getByLabel('Name 1', { exact: true }).fill('team');
      for (let row = 4; row > 1; row -= 1) await dialog.getByRole('button', { name: `Remove row ${row}` }).click();
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      const alert = dialog.getByRole('alert');
      await alert.waitFor();
      if (!(await isShown(alert))) hidden.push('what went wrong in a form');

      await page.goto(`${address}/mcp/small`);
      await page.getByRole('button', { name: 'Call create_issue' }).click();
      const call = dialog.getByRole('button', { name: 'Call the tool' });
      await dialog.getByLabel('estimate').fill('1.5');
      await call.click();
      const wrong = dialog.locator('[aria-invalid]').first();
      await wrong.waitFor();
      if (!(await isShown(wrong))) hidden.push('what is wrong with a call');
      await dialog.getByLabel('estimate').fill('1');
      await dialog.getByLabel('title', { exact: true }).fill('Broken');
      await dialog.getByLabel('priority').selectOption('high');
      const region = await dialog.locator('[aria-live=polite]').elementHandle();
      await call.click();
      const answer = dialog.getByRole('region', { name: 'Answer of the tool' });
      await answer.waitFor();
      assert.ok(await region.evaluate((element) => element.textContent.includes('created')));
      if (!(await isShown(answer))) hidden.push('the answer of a tool');
      assert.deepEqual(hidden, []);
    },
  },
  {
    title: 'When a row with the focus is deleted, its list gets the focus',
    run: async ({ tabs, page: address, adminKey, keyWith }) => {
      await keyWith(['usage.read'], 'leaving row one');
      await keyWith(['usage.read'], 'leaving row two');
      const page = await logIn(tabs, `${address}/keys?search=leaving+row`, adminKey);
      const dialog = page.getByRole('dialog');
      for (const [name, place] of [
        ['leaving row one', page.getByRole('region', { name: 'API keys' })],
        ['leaving row two', page.locator('main div').filter({ hasText: 'No key here.' })],
      ]) {
        await page.getByRole('button', { name: `Delete ${name}` }).press('Enter');
        await dialog.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
        await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'detached' });
        await place.and(page.locator(':focus')).waitFor();
      }
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

/** Whether a point in the middle of an element's top shows the element. */
const isShown = (locator) =>
  locator.evaluate((element) => {
    const { x, y, width } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + 10));
  });

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
