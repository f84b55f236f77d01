import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

const KEYS = 5_000;
const GROUPS = 100_000;

/** What a page does while the gateway is away. The lists of the next cases are filled meanwhile. */
export const outages = [
  {
    title: 'The gateway restarts under open pages: they say so, lose nothing that was typed, and go on',
    run: async ({ tabs, page: address, adminKey, ask, restart, query }) => {
      const { id: limitId } = await ask('/v1/policies/usage-limits', {
        name: 'Crowded',
        conditions: [{ key: 'model', value: 'crowded' }],
        group_by: [{ key: 'metadata.user' }],
        type: 'tokens',
        credit_limit: 1_000,
      });
      const typing = await logIn(tabs, `${address}/keys`, adminKey);
      await typing.getByRole('button', { name: 'New key' }).click();
      await typing.getByLabel('Name', { exact: true }).fill('typed before');
      const watching = await tabs.newPage();
      await watching.goto(`${address}/limits`);
      await watching.getByRole('link', { name: 'Crowded' }).waitFor();
      const isAway = watching.getByRole('status').getByText('The gateway does not answer.');
      await restart(async () => {
        await isAway.waitFor();
        await watching.getByRole('link', { name: 'Crowded' }).waitFor();
        await typing.getByRole('button', { name: 'Create key' }).click();
        await typing.getByRole('alert').getByText('The gateway does not answer.').waitFor();
        await query([
          [
            `INSERT INTO api_keys (organisation_id, name, type, scopes, prefix, created_by)
             SELECT id, 'key ' || n, 'service', '{usage.read}', 'tg_many', 'test' FROM organisations, generate_series(1, ${KEYS}) n`,
          ],
          [
            `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, used, credit_limit, updated_at)
             SELECT $1, substr(md5(n::text), 1, 22), 'cum', gen_random_uuid(), n, id, 'metadata.user:user-' || n, 'tokens', n % 1000, 1000, now() - interval '1 day'
             FROM organisations, generate_series(1, ${GROUPS}) n`,
            [limitId],
          ],
        ]);
      });
      await isAway.waitFor({ state: 'detached' });
      assert.equal(await typing.getByLabel('Name', { exact: true }).inputValue(), 'typed before');
      await typing.getByRole('button', { name: 'Create key' }).click();
      await typing.getByText('Copy the key now').waitFor();
      await watching.getByRole('link', { name: 'Crowded' }).click();
      await watching.getByText(/of 100,000$/).waitFor();
      await watching.goBack();
      await watching.getByRole('heading', { name: 'Limits' }).waitFor();
    },
  },
];
