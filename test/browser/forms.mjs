import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** What forms send, and what they say of an answer. */
export const forms = [
  {
    title: 'A virtual key is changed, keeps its credential, and is tested',
    run: async ({ tabs, page: address, adminKey, ask, providerUrl, call }) => {
      await ask('/v1/virtual-keys', {
        name: 'Changing',
        slug: 'changing',
        provider: 'openai-compatible',
        key: 'sk-kept-credential',
        config: { base_url: 'http://127.0.0.1:1/v1', timeout_ms: 5_000 },
      });
      const page = await logIn(tabs, `${address}/providers`, adminKey);
      const dialog = page.getByRole('dialog');
      const open = () => page.getByRole('button', { name: 'Change Changing' }).click();
      await open();
      assert.equal(await dialog.getByLabel('Address of the server').inputValue(), 'http://127.0.0.1:1/v1');
      const key = dialog.getByLabel('Key of the provider');
      assert.equal(await key.inputValue(), '');
      await dialog.getByLabel('Description').fill('For the search team.');
      await dialog.getByLabel('Last day').fill('2099-12-31');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText(/^The test failed: connect/).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      const changed = await ask('/v1/virtual-keys/changing');
      assert.equal(changed.description, 'For the search team.');
      assert.equal(changed.expires_at, Date.parse('2099-12-31T23:59:59Z') / 1_000);
      assert.match(changed.key, /\*/);

      await open();
      await dialog.getByLabel('Address of the server').fill(providerUrl);
      await key.fill('sk-other-credential');
      await dialog.getByLabel('Last day').fill('');
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await dialog.getByText('The provider accepts the key.').waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      const { config, expires_at: end } = await ask('/v1/virtual-keys/changing');
      assert.deepEqual([config, end], [{ base_url: providerUrl, timeout_ms: 5_000 }, null]);
      assert.equal((await call(adminKey, { model: '@changing/gpt-x' })).status, 200);
    },
  },
];
