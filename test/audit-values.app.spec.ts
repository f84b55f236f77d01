import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { forEvery } from './support/for-every.js';
import { refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const [OLD, NEW] = ['old-secret-0123456789', 'new-secret-0123456789'];
const VAULT = { vault_auth_type: 'token', vault_addr: 'https://vault.example.com' };

interface Row {
  readonly path: string;
  readonly body: object;
  readonly update: object;
  /** What the entry of the update says. */
  readonly changes: object;
  /** The fields of secrets in the entry of the create. */
  readonly secrets: readonly string[];
}

const renamed = { name: { old: 'One', new: 'Two' } };
const ROWS: readonly Row[] = [
  { path: '/v1/workspaces', body: { name: 'One' }, update: { name: 'Two' }, changes: renamed, secrets: [] },
  {
    path: '/v1/api-keys',
    body: { name: 'One', level: 'organisation', scopes: ['usage.read'] },
    update: { name: 'Two', metadata: { team: 'a' } },
    changes: { ...renamed, 'metadata.team': { old: null, new: 'a' } },
    secrets: [],
  },
  {
    path: '/v1/virtual-keys',
    body: { name: 'One', provider: 'openai', key: OLD, config: { organization: 'o' } },
    update: { key: NEW, config: { organization: 'p' } },
    changes: { key: 'changed', 'config.organization': { old: 'o', new: 'p' } },
    secrets: ['key'],
  },
  {
    path: '/v1/secret-references',
    body: {
      name: 'One',
      manager_type: 'hashicorp_vault',
      auth_config: { ...VAULT, vault_token: OLD },
      secret_path: 'a/b',
    },
    update: { auth_config: { vault_token: NEW }, secret_path: 'a/c' },
    changes: { 'auth_config.vault_token': 'changed', secret_path: { old: 'a/b', new: 'a/c' } },
    secrets: ['auth_config.vault_token'],
  },
  {
    path: '/v1/mcp-servers',
    body: { name: 'One', url: `https://mcp.example.com/s/${OLD}/mcp`, headers: { 'X-Key': OLD } },
    update: { url: `https://mcp.example.com/s/${NEW}/mcp`, headers: { 'X-Key': NEW }, enabled: false },
    changes: { 'url.path': 'changed', 'headers.X-Key': 'changed', enabled: { old: true, new: false } },
    secrets: ['url.path', 'headers.X-Key'],
  },
  {
    path: '/v1/model-routes',
    body: { name: 'One', targets: [{ virtual_key: 'local', model: 'one' }] },
    update: { targets: [{ virtual_key: 'local', model: 'two', order: 1 }] },
    changes: {
      targets: {
        old: [{ virtual_key: 'local', model: 'one', order: 0 }],
        new: [{ virtual_key: 'local', model: 'two', order: 1 }],
      },
    },
    secrets: [],
  },
  {
    path: '/v1/policies/usage-limits',
    body: {
      name: 'One',
      conditions: [{ key: 'model', value: '*' }],
      group_by: [{ key: 'model' }],
      type: 'cost',
      credit_limit: 1,
    },
    update: { credit_limit: 2 },
    changes: { credit_limit: { old: 1, new: 2 } },
    secrets: [],
  },
  {
    path: '/v1/webhooks',
    body: { url: `https://hooks.example.com/services/${OLD}`, events: ['*'] },
    update: { url: `https://chat.example.com/hook?token=${NEW}` },
    changes: {
      'url.origin': { old: 'https://hooks.example.com', new: 'https://chat.example.com' },
      'url.path': 'changed',
    },
    secrets: ['url.path', 'secret'],
  },
];
const ALL = ROWS.map((row) => [row.path, row] as const);

let gateway: TestApp;
let owner: Tenant;
let stranger: Tenant;

beforeAll(async () => {
  gateway = await startTestApp();
  owner = await addTenant(gateway, 'owner');
  stranger = await addTenant(gateway, 'stranger');
  await owner.client.create('/v1/virtual-keys', { name: 'local', slug: 'local', provider: 'local' });
});
afterAll(() => gateway.close());

const entriesOf = (id: string): Promise<readonly JsonObject[]> => owner.client.list(`/v1/audit-logs?resource=${id}`);

it('keeps old and new values, names and the address of the client, and of secrets only that they changed', () =>
  forEvery(ALL, async ({ path, body, update, changes, secrets }) => {
    const id = readString((await owner.client.create(path, body))['id'], 'id');
    expect((await owner.client.patch(`${path}/${id}`, update)).status).toBe(200);
    expect((await owner.client.delete(`${path}/${id}`)).status).toBe(204);
    const [deleted, updated, created] = await entriesOf(id);
    const name = 'name' in body ? 'One' : 'https://hooks.example.com';
    const who = { actor_name: 'admin', client_address: '127.0.0.1' };
    expect(created).toMatchObject({ ...who, resource_name: name });
    expect(updated).toMatchObject({ ...who, changes });
    expect(Object.keys(updated?.['changes'] ?? {}).sort()).toEqual(Object.keys(changes).sort());
    for (const field of secrets) {
      expect(created).toHaveProperty(['changes', field], 'changed');
      expect(deleted).toHaveProperty(['changes', field], 'changed');
    }
    expect(Object.keys(deleted?.['changes'] ?? {}).length).toBeGreaterThan(0);
    const [{ text }] = await gateway.dataSource.query(
      `SELECT string_agg(e::text, '') AS text FROM audit_log_entries e`,
    );
    for (const secret of [OLD, NEW, 'whsec_', 'secret ']) expect(text).not.toContain(secret);
  }));

it('says of a rotated key and webhook that the secret changed', async () => {
  const { id } = await owner.client.createKey({ scopes: ['usage.read'] });
  await owner.client.post(`/v1/api-keys/${id}/rotate`, {});
  expect((await entriesOf(id))[0]).toMatchObject({ action: 'api_keys.rotate', changes: { key: 'changed' } });
  const hook = readString(
    (await owner.client.create('/v1/webhooks', { url: 'https://a.example', events: ['*'] }))['id'],
    'id',
  );
  await owner.client.post(`/v1/webhooks/${hook}/rotate-secret`, {});
  expect((await entriesOf(hook))[0]).toMatchObject({ changes: { secret: 'changed' } });
});

it('exports all entries of the tenant as NDJSON, oldest first, with the filters of the list', async () => {
  for (let count = 0; count < 3; count += 1) await stranger.client.createWorkspace(`W ${count}`);
  // More than one page, all of the same time.
  await gateway.dataSource.query(
    `INSERT INTO audit_log_entries (organisation_id, actor_type, actor_id, action, resource_type, resource_id, created_at)
     SELECT $1, 'gateway', 'test', 'workspaces.test', 'workspace', gen_random_uuid(), '2020-01-01 00:00:00.123456'
     FROM generate_series(1, 1200)`,
    [stranger.organisationId],
  );
  const answer = await stranger.client.get('/v1/audit-logs/export');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
  const entries = answer.text
    .trimEnd()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line));
  expect(entries).toHaveLength(1_203);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(1_203);
  expect(entries.slice(1_200)).toEqual(
    [...(await stranger.client.list('/v1/audit-logs?action=workspaces.create'))].reverse(),
  );
  const some = await stranger.client.get('/v1/audit-logs/export?action=workspaces.create');
  expect(some.text.trimEnd().split('\n')).toHaveLength(3);
  expect((await stranger.client.get('/v1/audit-logs/export?action=none')).text).toBe('');
  expect(refusalOf(await owner.client.get('/v1/audit-logs/export?page_size=1'))).toMatchObject({ status: 400 });
  expect((await owner.client.get('/v1/audit-logs/export')).text).not.toContain('workspaces.test');
  const { client } = await owner.client.createKey({ scopes: ['usage.read'] });
  expect(refusalOf(await client.get('/v1/audit-logs/export'))).toMatchObject({ status: 403 });
});
