import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { SCOPES } from '../src/access/scopes.js';
import { readString } from '../src/common/json/read.js';
import { workspaceInUse } from '../src/workspaces/workspace.errors.js';
import { BlockingSession } from './support/blocking-session.js';
import { GatewayClient } from './support/gateway-client.js';
import { databaseServer, onServer } from './support/services.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const MISSING = { status: 404, code: 'not_found', param: null, source: 'gateway' };
const GONE = { status: 403, code: 'tenant_mismatch', param: 'workspace_id', source: 'gateway' };

const LIMITS = '/v1/policies/usage-limits';

/** The resources that a workspace can hold. */
const RESOURCES: readonly (readonly [string, object])[] = [
  ['/v1/api-keys', { name: 'k', scopes: ['api_keys.read'] }],
  ['/v1/virtual-keys', { name: 'k', provider: 'local' }],
  ['/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['usage_limit.exhausted'] }],
  ['/v1/mcp-servers', { name: 'm', url: 'https://mcp.example.com/mcp' }],
  ['/v1/model-routes', { name: 'm', targets: [{ virtual_key: 'shared', model: 'bm25' }] }],
  [
    LIMITS,
    {
      conditions: [{ key: 'workspace_id', value: '*' }],
      group_by: [{ key: 'api_key' }],
      type: 'cost',
      credit_limit: 1,
    },
  ],
];
const SECRET_REFERENCE = {
  name: 'Vault',
  manager_type: 'hashicorp_vault',
  auth_config: { vault_auth_type: 'token', vault_token: 'hvs.none', vault_addr: 'https://vault.example.com' },
  secret_path: 'secret/cohere',
};

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  await admin.create('/v1/virtual-keys', { name: 'Shared', slug: 'shared', provider: 'local' });
});
afterAll(() => gateway.close());

/** A deleted workspace, and a key of it that the gateway still has in memory. */
async function remembered(): Promise<GatewayClient> {
  const id = await admin.createWorkspace('Gone');
  const { client } = await admin.createKey({ level: 'workspace', workspace_id: id, scopes: [...SCOPES] });
  await client.read(`/v1/workspaces/${id}`);
  await gateway.dataSource.query('DELETE FROM "api_keys" WHERE "workspace_id" = $1', [id]);
  await gateway.dataSource.query('DELETE FROM "workspaces" WHERE "id" = $1', [id]);
  return client;
}

describe('a new workspace', () => {
  it('shows the creation of a workspace in its audit log', async () => {
    const id = await admin.createWorkspace('Watched');
    const { client } = await admin.createKey({ level: 'workspace', workspace_id: id, scopes: ['audit_logs.list'] });
    expect(await client.list(`/v1/audit-logs?resource=${id}`)).toMatchObject([{ action: 'workspaces.create' }]);
  });

  it('gives a workspace a slug that works in the addresses of its MCP servers', async () => {
    const id = await admin.createWorkspace('Health');
    expect(await admin.read(`/v1/workspaces/${id}`)).toMatchObject({ name: 'Health', slug: 'health-workspace' });
  });

  it.each(['docs', 'V1', 'console'])('refuses the slug %s, which is a path of the gateway', async (slug) => {
    const refusal = refusalOf(await admin.post('/v1/workspaces', { name: 'A team', slug }));
    expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: 'slug' });
  });
});

describe('a slug in the form of an id', () => {
  const slug = crypto.randomUUID();

  it.each<readonly [string, object]>([
    ['/v1/workspaces', { name: 'w' }],
    ['/v1/virtual-keys', { name: 'k', provider: 'local', workspace_id: 'default' }],
    ['/v1/mcp-servers', { name: 'm', url: 'https://mcp.example.com/mcp', workspace_id: 'default' }],
    ['/v1/model-routes', { name: 'm', targets: [{ virtual_key: 'shared', model: 'bm25' }] }],
    ['/v1/secret-references', SECRET_REFERENCE],
  ])('refuses a slug in the form of an id at %s', async (path, body) => {
    const refusal = refusalOf(await admin.post(path, { ...body, slug }));
    expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: 'slug' });
    const made = await admin.create(path, { ...body, name: slug });
    expect(made['slug']).not.toBe(slug);
    expect(await admin.read(`${path}/${readString(made['slug'], 'slug')}`)).toMatchObject({ id: made['id'] });
  });
});

describe('a workspace that is gone', () => {
  it.each([...RESOURCES, ['/v1/secret-references', SECRET_REFERENCE] as const])(
    'refuses a deleted workspace as one that the caller does not act for: %s of a key that is still in memory',
    async (path, body) => expect(refusalOf(await (await remembered()).post(path, body))).toEqual(GONE),
  );

  it('refuses a deleted workspace like an unknown one', async () => {
    const never = crypto.randomUUID();
    for (const [path, body] of RESOURCES) {
      expect(refusalOf(await admin.post(path, { ...body, workspace_id: never }))).toEqual(GONE);
    }
  });
});

it('knows what to say of every table whose rows keep a workspace', async () => {
  const keeping: readonly { readonly constraint: string }[] = await gateway.dataSource.query(
    `SELECT "conname" AS "constraint" FROM "pg_constraint"
      WHERE "contype" = 'f' AND "confrelid" = '"workspaces"'::regclass AND "confdeltype" IN ('a', 'r')`,
  );
  expect(keeping.length).toBeGreaterThan(4);
  const unnamed = keeping.filter(({ constraint }) => {
    const violation = Object.assign(new Error('violated'), { code: '23503', constraint });
    return workspaceInUse(new QueryFailedError('DELETE', [], violation)) === undefined;
  });
  expect(unnamed).toEqual([]);
});

describe('a workspace that is in use', () => {
  const KINDS: Readonly<Record<string, string>> = {
    '/v1/api-keys': 'API keys',
    '/v1/virtual-keys': 'virtual keys',
    '/v1/webhooks': 'webhooks',
    '/v1/mcp-servers': 'MCP servers',
    '/v1/model-routes': 'model routes',
    [LIMITS]: 'active usage-limit policies',
  };

  it.each(RESOURCES)(
    'keeps a workspace that is in use, and names the resources that use it: %s',
    async (path, body) => {
      const workspace = await admin.createWorkspace('In use');
      const created = await admin.create(path, { ...body, workspace_id: workspace });
      const answer = await admin.delete(`/v1/workspaces/${workspace}`);
      expect(refusalOf(answer)).toEqual({ status: 409, code: 'conflict', param: null, source: 'gateway' });
      const message = `The workspace still has ${KINDS[path]}; delete them first.`;
      expect(jsonOf(answer)['error']).toMatchObject({ message });
      expect((await admin.delete(`${path}/${readString(created['id'], 'id')}`)).status).toBe(204);
      expect((await admin.delete(`/v1/workspaces/${workspace}`)).status).toBe(204);
    },
  );
});

describe('a workspace with usage limits', () => {
  const [, limit = {}] = RESOURCES.find(([path]) => path === LIMITS) ?? [];

  it('keeps a workspace while a usage limit is in force, and deletes it when all are archived and readable', async () => {
    const id = await admin.createWorkspace('Limited');
    const paths: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const created = await admin.create(LIMITS, { ...limit, workspace_id: id });
      paths.push(`${LIMITS}/${readString(created['id'], 'id')}`);
    }
    const [first = '', second = ''] = paths;
    expect((await admin.delete(first)).status).toBe(204);
    expect(refusalOf(await admin.delete(`/v1/workspaces/${id}`))).toMatchObject({ status: 409, code: 'conflict' });
    expect((await admin.delete(second)).status).toBe(204);
    expect((await admin.delete(`/v1/workspaces/${id}`)).status).toBe(204);
    for (const path of paths) {
      expect(await admin.read(path)).toMatchObject({ workspace_id: id, status: 'archived' });
    }
  });
});

onServer('a workspace that several change at once (needs DATABASE_URL: the embedded database has one session)', () => {
  /** Locks the row, so that every other request waits. */
  let session: BlockingSession;

  beforeAll(async () => {
    if (databaseServer !== undefined) session = await BlockingSession.open();
  });

  afterAll(() => session.close());

  /** Sends the requests so that they wait for the row in this order, then lets them continue together. */
  async function together(id: string, requests: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
    await session.begin('SELECT FROM "workspaces" WHERE "id" = $1 FOR UPDATE', [id]);
    return session.commitAfter(requests);
  }

  it('deletes a workspace once under concurrency, with one audit entry', async () => {
    const id = await admin.createWorkspace('Deleted twice');
    const remove = () => admin.delete(`/v1/workspaces/${id}`);
    const [first, second] = await together(id, [remove, remove]);
    expect(first?.status).toBe(204);
    expect(second && refusalOf(second)).toEqual(MISSING);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual(['workspaces.delete', 'workspaces.create']);
  });

  it('keeps a workspace deleted when a change follows', async () => {
    const id = await admin.createWorkspace('Deleted and changed');
    const path = `/v1/workspaces/${id}`;
    const [removed, changed] = await together(id, [
      () => admin.delete(path),
      () => admin.patch(path, { description: 'back again' }),
    ]);
    expect(removed?.status).toBe(204);
    expect(changed && refusalOf(changed)).toEqual(MISSING);
    expect(refusalOf(await admin.get(path))).toEqual(MISSING);
  });

  it('makes each of several concurrent changes to the result of the one before it', async () => {
    const id = await admin.createWorkspace('Changed twice');
    const path = `/v1/workspaces/${id}`;
    const [, second] = await together(id, [
      () => admin.patch(path, { name: 'Renamed' }),
      () => admin.patch(path, { description: 'described' }),
    ]);
    const both = { name: 'Renamed', description: 'described' };
    expect(second && jsonOf(second)).toMatchObject(both);
    expect(await admin.read(path)).toMatchObject(both);
  });

  it.each(RESOURCES)('refuses a resource of a workspace that is deleted meanwhile: %s', async (path, body) => {
    const id = await admin.createWorkspace('Deleted meanwhile');
    await session.begin('DELETE FROM "workspaces" WHERE "id" = $1', [id]);
    const [answer] = await session.commitAfter([() => admin.post(path, { ...body, workspace_id: id })]);
    expect(answer && refusalOf(answer)).toEqual(GONE);
  });

  it('refuses the workspace of a secret reference by its field when it is deleted meanwhile', async () => {
    const id = await admin.createWorkspace('Deleted meanwhile');
    await session.begin('DELETE FROM "workspaces" WHERE "id" = $1', [id]);
    const body = { ...SECRET_REFERENCE, allowed_workspaces: [id] };
    const [answer] = await session.commitAfter([() => admin.post('/v1/secret-references', body)]);
    expect(answer && refusalOf(answer)).toMatchObject({ status: 400, param: 'allowed_workspaces.0' });
  });
});
