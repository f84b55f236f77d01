// The pictures of docs/guides/console.md:
//   cd test/browser && npm ci && GUIDE=../../docs/guides/console npm test
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { logIn } from './log-in.mjs';

const SIZE = { width: 1_100, height: 840 };
const { GUIDE = '' } = process.env;

export const guide = [
  {
    title: 'The pictures of the guide are made',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl, toolsUrl, call }) => {
      await fill({ ask, providerUrl, toolsUrl, call });
      mkdirSync(GUIDE, { recursive: true });
      const page = await logIn(tabs, address, adminKey);
      await page.setViewportSize(SIZE);
      const picture = (name) => page.screenshot({ path: path.join(GUIDE, `${name}.png`) });
      const at = async (place) => {
        await page.goto(`${address}/${place}`);
        await page.waitForLoadState('networkidle');
      };
      const form = page.getByRole('dialog');
      await at('');
      await page.locator('.recharts-bar-rectangle').first().waitFor();
      await picture('overview');
      await at('limits');
      await page.getByRole('button', { name: 'New limit' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Monthly budget of each application');
      await page.getByLabel('Cap in dollars').fill('0.01');
      await page.getByText(/would have reached the cap/).waitFor();
      await form.getByText('search service').waitFor();
      await picture('new-limit');
      await at('limits');
      await picture('limits');
      await at('mcp/issues');
      await page.getByRole('button', { name: 'Call create_issue' }).click();
      await form.getByLabel('title', { exact: true }).fill('Broken link in the footer');
      await form.getByLabel('priority').selectOption('high');
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await form.getByText(/^created/).waitFor();
      await picture('call-tool');
      await at('models?view=catalogue');
      await picture('catalogue');
      await at('models');
      await page.getByRole('button', { name: 'Change fast' }).click();
      await form.getByText('Target 2').waitFor();
      await picture('route');
    },
  },
];

/** A gateway as it may look after some days. */
async function fill({ ask, providerUrl, toolsUrl, call }) {
  const config = { base_url: providerUrl };
  await ask('/v1/virtual-keys', { name: 'OpenAI', slug: 'openai', provider: 'openai-compatible', config });
  const models = [
    ['gpt-4o', '2.5'],
    ['gpt-4o-mini', '0.15'],
    ['o4-mini', '1.1'],
  ];
  for (const [model, dollars] of models) {
    for (const unit of ['input', 'output']) {
      const price = `0.${String(Math.round(Number(dollars) * 1e5)).padStart(9, '0')}`;
      await ask('/v1/prices', { provider: 'openai-compatible', model, unit, price });
    }
  }
  const limit = (fields) =>
    ask('/v1/policies/usage-limits', {
      group_by: [{ key: 'api_key' }],
      conditions: [{ key: 'model', value: '*' }],
      periodic_reset: 'monthly',
      ...fields,
    });
  await limit({ name: 'Tokens of each application', type: 'tokens', credit_limit: 1_000 });
  await limit({ name: 'Budget of the organisation', type: 'cost', credit_limit: 5, group_by: [{ key: 'provider' }] });
  for (const [name, calls] of [
    ['search service', 28],
    ['support bot', 5],
  ]) {
    const fields = { level: 'organisation', scopes: ['completions.write'], default_virtual_key: 'openai' };
    const { key } = await ask('/v1/api-keys', { name, ...fields });
    for (let each = 0; each < calls; each += 1) await call(key, { model: models[each % models.length][0] });
  }
  const targets = ['gpt-4o-mini', 'gpt-4o'].map((model) => ({ virtual_key: 'openai', model }));
  await ask('/v1/model-routes', { name: 'fast', targets });
  await ask('/v1/mcp-servers', { name: 'Issue tracker', slug: 'issues', url: toolsUrl });
  await ask('/v1/mcp-servers/issues/test', {});
}
