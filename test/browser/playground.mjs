import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** Calls of models from the console. */
export const playground = [
  {
    title: 'The playground streams a chat on two models side by side, ranks documents, and calls only when asked to',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Play', slug: 'play', provider: 'openai-compatible', config });
      await ask('/v1/virtual-keys', { name: 'Rank', slug: 'rank', provider: 'local' });
      const page = await logIn(tabs, `${address}/playground`, adminKey);
      const calls = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') calls.push(new URL(request.url()).pathname);
      });
      await page.getByRole('button', { name: 'Compare two' }).click();
      await page.getByLabel('Model on the left').fill('@play/gpt-x');
      await page.getByLabel('Model on the right').fill('@missing/gpt-x');
      await page.getByLabel('Message').fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
      const side = (title) => page.locator('section').filter({ has: page.getByRole('heading', { name: title }) });
      await side('@play/gpt-x')
        .getByText(/\d+ ms/)
        .first()
        .waitFor();
      await side('@missing/gpt-x').getByRole('alert').waitFor();
      const tokens = side('@play/gpt-x').locator('dl div').filter({ hasText: 'Tokens' });
      await tokens.getByText(/^\d+$/).waitFor();
      await page.getByLabel('Message').pressSequentially(' again');
      await page.getByLabel('Model on the left').fill('@play/gpt-y');
      await page.getByRole('button', { name: 'Rerank' }).click();
      await page.getByRole('button', { name: 'One model' }).click();
      await page.getByLabel('Model', { exact: true }).fill('@rank/bm25');
      await page.getByLabel('Query').fill('capital of France');
      await page.getByLabel('Documents').fill('Rome is in Italy\nParis is the capital of France');
      await page.getByRole('button', { name: 'Send' }).click();
      const first = page.locator('main ol li').first();
      await first.getByText('Paris is the capital of France').waitFor();
      await page.getByLabel('Query').pressSequentially('?');
      await page.getByLabel('Documents').fill('Oslo');
      await page.getByRole('link', { name: 'Limits' }).click();
      await page.getByRole('heading', { name: 'Limits' }).waitFor();
      assert.deepEqual(calls, ['/v1/chat/completions', '/v1/chat/completions', '/v1/rerank']);
    },
  },
  {
    title: 'The playground sends a bound that a limit can reserve, and says when the gateway goes away meanwhile',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl }) => {
      const config = { base_url: providerUrl };
      await ask('/v1/virtual-keys', { name: 'Capped', slug: 'capped', provider: 'openai-compatible', config });
      await ask('/v1/policies/usage-limits', {
        name: 'Of the playground',
        conditions: [{ key: 'virtual_key', value: 'capped' }],
        group_by: [{ key: 'api_key' }],
        type: 'tokens',
        credit_limit: 5_000,
      });
      const page = await logIn(tabs, `${address}/playground`, adminKey);
      await page.getByLabel('Model', { exact: true }).fill('@capped/gpt-x');
      await page.getByLabel('Message').fill('Hello');
      const send = page.getByRole('button', { name: 'Send' });
      await send.click();
      await page.getByText('Hello from the scripted provider').waitFor();
      await page.getByLabel('Longest answer in tokens').fill('');
      await send.click();
      await page.getByRole('alert').getByText('usage_not_bounded').waitFor();
      await page.route('**/v1/chat/completions', (route) => route.abort());
      await send.click();
      await page.getByRole('alert').getByText('The gateway does not answer.').waitFor();
    },
  },
  {
    title: 'The playground says why an answer has no more words, sends once for two clicks, and stops when asked to',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/playground`, adminKey);
      let calls = 0;
      let deltas;
      await page.route('**/v1/chat/completions', async (route) => {
        calls += 1;
        // Without an answer, the call goes on.
        if (deltas === undefined) return;
        const events = deltas.map(([delta, finish_reason]) => ({ choices: [{ index: 0, delta, finish_reason }] }));
        const body = [...events.map((event) => JSON.stringify(event)), '[DONE]']
          .map((data) => `data: ${data}\n\n`)
          .join('');
        await route.fulfill({ contentType: 'text/event-stream', body });
      });
      await page.getByLabel('Model', { exact: true }).fill('@any/model');
      await page.getByLabel('Message').fill('Hello');
      const send = page.getByRole('button', { name: 'Send' });
      const words = page.locator('section').last();
      const start = [{ role: 'assistant', content: '' }, null];
      for (const [parts, shown] of [
        [[start, [{ reasoning_content: 'Hm.' }, null], [{}, 'length']], 'The model used them before the first word'],
        [[start, [{ content: 'It is' }, null], [{}, 'length']], 'cut off at its bound: 1,000 tokens.'],
        [[start, [{ refusal: 'I will not.' }, null], [{}, 'stop']], 'I will not.'],
        [[start, [{}, 'content_filter']], 'A filter of the provider held the answer back.'],
        [[start, [{}, 'stop']], 'The answer has no words.'],
      ]) {
        deltas = parts;
        await send.click();
        await words.getByText(shown).waitFor();
      }
      // The role came, and no word.
      await words
        .locator('div')
        .filter({ hasText: /^First words–$/ })
        .waitFor();
      deltas = undefined;
      calls = 0;
      await send.dblclick();
      await page.getByRole('button', { name: 'Stop' }).click();
      await words.getByText('Stopped.').waitFor();
      assert.equal(calls, 1);
      await page.getByRole('button', { name: 'Send', disabled: false }).waitFor();
    },
  },
  {
    title: 'Documents whose scores are all below 0 have bars, and scores near 0 differ',
    run: async ({ tabs, page: address, adminKey }) => {
      const page = await logIn(tabs, `${address}/playground`, adminKey);
      let scores;
      await page.route('**/v1/rerank', (route) =>
        route.fulfill({ json: { results: scores.map((relevance_score, index) => ({ index, relevance_score })) } }),
      );
      await page.getByRole('button', { name: 'Rerank' }).click();
      await page.getByLabel('Model', { exact: true }).fill('@any/model');
      await page.getByLabel('Query').fill('Which?');
      await page.getByLabel('Documents').fill('one\ntwo\nthree');
      const rows = page.locator('main ol li');
      const widths = () => rows.locator('[style]').evaluateAll((bars) => bars.map(({ style }) => style.width));
      for (const [each, shown, bars] of [
        [[-5, -6, -7], '-6.0000', ['100%', '50%', '0%']],
        [[4, 2, 1], '2.0000', ['100%', '50%', '25%']],
        [[0.8, 0.4, 0.00002], '2.00e-5', ['80%', '40%', '0.002%']],
      ]) {
        scores = each;
        await page.getByRole('button', { name: 'Send' }).click();
        await rows.getByText(shown).waitFor();
        assert.deepEqual(await widths(), bars);
      }
    },
  },
];
