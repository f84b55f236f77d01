import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { logIn } from './log-in.mjs';
import { fillViews, openView, VIEWS } from './views.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [360, 1_024, 1_920];
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
/** A chart follows the window a moment later. */
const FIT_MS = 20_000;
const { PICTURES } = process.env;

/** Every page and dialog, in both themes and at three widths. What only colours can break is looked for in the second theme. */
export const pages = ['light', 'dark'].map((theme) => ({
  title: `Every page and dialog is accessible, fits its window and breaks no rule of its policy, in the ${theme} theme`,
  run: async (context) => {
    const { newTabs, page: address, adminKey } = context;
    if (theme === 'light') await fillViews(context);
    const tabs = await newTabs({ colorScheme: theme });
    const page = await logIn(tabs, address, adminKey);
    const complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.addInitScript(AXE);
    const widths = theme === 'light' || PICTURES !== undefined ? WIDTHS : WIDTHS.slice(1, 2);
    const wrong = [];
    let previous;
    for (const view of VIEWS) {
      const { name } = view;
      await openView(page, address, view, previous).catch((error) => assert.fail(`${name}: ${error.message}`));
      previous = view;
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        const fits = page.waitForFunction(fitsWindow, undefined, { timeout: FIT_MS });
        await fits.catch(() => wrong.push(`${name} is wider than ${width} px`));
        if (PICTURES === undefined) continue;
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: path.join(PICTURES, `${name}-${theme}-${width}.png`), fullPage: !view.open });
      }
      const violations = await page.evaluate(
        async (rules) =>
          (await window.axe.run(rules === null ? {} : { runOnly: rules })).violations.map(
            ({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`,
          ),
        theme === 'light' ? null : OF_COLOURS,
      );
      wrong.push(...violations.map((violation) => `axe on ${name}: ${violation}`));
    }
    assert.deepEqual([...wrong, ...complaints], []);
    await tabs.close();
  },
}));

/** In the page: neither it nor an open dialog scrolls sideways. */
function fitsWindow() {
  const boxes = [document.documentElement, ...document.querySelectorAll('dialog[open], dialog[open] > div')];
  return boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth + 1);
}
