import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { logIn } from './log-in.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['', 'limits', 'keys', 'providers', 'models', 'mcp', 'playground', 'calls', 'audit', 'settings'];
const WIDTHS = [360, 1_024, 1_920];
const { PICTURES } = process.env;

/** Every page, in both themes and at three widths. */
export const pages = ['light', 'dark'].map((theme) => ({
  title: `Every page is accessible, fits its window and breaks no rule of its policy, in the ${theme} theme`,
  run: async ({ browser, page: address, adminKey }) => {
    const tabs = await browser.newContext({ colorScheme: theme });
    const page = await logIn(tabs, address, adminKey);
    const complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    for (const name of PAGES) {
      await page.goto(`${address}/${name}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        // A chart follows the window a moment later.
        const fits = page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
        await fits.catch(() => assert.fail(`${name || 'overview'} is wider than ${width} px`));
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({ path: path.join(PICTURES, `${name || 'overview'}-${theme}-${width}.png`) });
        }
      }
      await page.evaluate(AXE);
      const violations = await page.evaluate(async () =>
        (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`),
      );
      assert.deepEqual(violations, [], `axe on ${name || 'overview'}`);
    }
    assert.deepEqual(complaints, []);
    await tabs.close();
  },
}));
