import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

const FRAME_MS = 200;
const FIRST_PAGE_MS = 1_500;
/** Compressed, with everything that the overview loads. */
const FIRST_PAGE_BYTES = 350_000;
const WHEEL_TURNS = 15;
/** Other programs run beside the browser: the best of these counts. */
const TRIES = 10;

/** They run last. The case of the restart has filled the lists. */
export const longLists = [
  {
    title: `5,000 keys and 100,000 groups scroll and turn pages with no frame over ${FRAME_MS} ms`,
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/keys`, adminKey);
      await page.getByText(/of 5,\d\d\d$/).waitFor();
      await assertSmooth(page, 'keys');
      await page.goto(`${address}/limits?search=Crowded`);
      await page.getByRole('link', { name: 'Crowded' }).click();
      await page.getByText(/of 100,000$/).waitFor();
      await assertSmooth(page, 'groups');
      await page.getByLabel('Search').fill('user-99999');
      await page.getByText(/of 100,000$/).waitFor({ state: 'detached' });
      await page.getByText('metadata.user: user-99999', { exact: true }).waitFor();
      assert.equal(await page.getByRole('row').count(), 2);
    },
  },
  {
    title: `The first page loads at most ${FIRST_PAGE_BYTES / 1_000} kB`,
    run: async ({ tabs, page: address, adminKey, ask, call, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Weighed', slug: 'weighed', provider: 'openai-compatible', config });
      for (const unit of ['input', 'output'])
        await ask('/v1/prices', { provider: 'openai-compatible', model: 'weighed', unit, price: '0.01' });
      assert.equal((await call(adminKey, { model: '@weighed/weighed' })).status, 200);
      const sizes = new Map();
      tabs.on('requestfinished', async (request) => {
        if (!request.url().startsWith(address)) return;
        const { responseBodySize } = await request.sizes();
        sizes.set(request.url(), responseBodySize);
      });
      const page = await logIn(tabs, address, adminKey);
      await page.getByLabel('Group the cost by').selectOption('Provider');
      await page.locator('.recharts-bar-rectangle').first().waitFor();
      await page.waitForLoadState('networkidle');
      const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      console.log(`  the first page: ${total} bytes in ${sizes.size} files`);
      assert.ok(sizes.size > 3 && total > 100_000 && total <= FIRST_PAGE_BYTES, `${total} bytes`);
    },
  },
];

/** Runs first, while little else does. */
export const firstPage = [
  {
    title: `The first page can be used within ${FIRST_PAGE_MS} ms, with an empty cache`,
    run: async ({ tabs, newTabs, page: address, adminKey }) => {
      await logIn(tabs, address, adminKey);
      const storageState = await tabs.storageState();
      const times = [];
      while (times.length < TRIES && !times.some((time) => time < FIRST_PAGE_MS)) {
        const fresh = await newTabs({ storageState });
        const page = await fresh.newPage();
        await page.addInitScript(noteFirstPage);
        await page.goto(address, { waitUntil: 'commit' });
        await page.waitForFunction(() => window.usable_ !== undefined);
        times.push(await page.evaluate(() => Math.round(window.usable_)));
        await page.getByLabel('Group the cost by').selectOption('Provider');
        await fresh.close();
      }
      console.log(`  the first page: ${times.join(', ')} ms`);
      assert.ok(Math.min(...times) < FIRST_PAGE_MS, `it took ${times.join(', ')} ms`);
    },
  },
];

/** In the page: when its figures are there and the browser has drawn them. */
function noteFirstPage() {
  new MutationObserver((_changes, observer) => {
    if (document.querySelector('main select') === null || !document.body.textContent.includes('This month')) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.usable_ = performance.now())));
  }).observe(document, { childList: true, subtree: true });
}

/** Scrolls through the list and turns pages, and measures the time between frames. */
async function assertSmooth(page, name) {
  const worst = [];
  for (let attempt = 0; attempt < TRIES && !worst.some((time) => time < FRAME_MS); attempt += 1) {
    await page.evaluate(() => {
      window.frames_ = [];
      let last = performance.now();
      const note = (now) => {
        window.frames_.push(now - last);
        last = now;
        window.frame_ = requestAnimationFrame(note);
      };
      window.frame_ = requestAnimationFrame(note);
    });
    await page.mouse.move(600, 500);
    for (let turn = 0; turn < WHEEL_TURNS; turn += 1) await page.mouse.wheel(0, turn % 5 === 4 ? -800 : 400);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(`${attempt * 50 + 51}–`, { exact: false }).waitFor();
    for (let turn = 0; turn < WHEEL_TURNS; turn += 1) await page.mouse.wheel(0, turn % 5 === 4 ? -800 : 400);
    const frames = await page.evaluate(() => {
      cancelAnimationFrame(window.frame_);
      return window.frames_;
    });
    assert.ok(frames.length > 10, `${frames.length} frames`);
    worst.push(Math.round(Math.max(...frames)));
  }
  console.log(`  the longest frames of ${name}: ${worst.join(', ')} ms`);
  assert.ok(Math.min(...worst) < FRAME_MS, `the longest frames of ${name} took ${worst.join(', ')} ms`);
}
