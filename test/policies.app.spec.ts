import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { readString } from '../src/common/json/read.js';
import type { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';
import { addTenant, type Tenant } from './support/tenants.js';

const PATH = '/v1/policies/usage-limits';
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const MISSING = { status: 404, code: 'not_found', param: null, source: 'gateway' };
const VALID = {
  name: 'Search, per user',
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 10,
  alert_threshold: 8,
  periodic_reset: 'monthly',
};

let gateway: UsageGateway;
let admin: GatewayClient;
let other: Tenant;
let workspaceId: string;
/** A key of the workspace with every policy scope. */
let member: GatewayClient;

beforeAll(async () => {
  gateway = await startUsageGateway();
  ({ admin } = gateway);
  other = await addTenant(gateway.app, 'other');
  workspaceId = await admin.createWorkspace('Team');
  const scopes = ['create', 'read', 'update', 'delete', 'list'].map((verb) => `policies.${verb}`);
  ({ client: member } = await admin.createKey({ level: 'workspace', workspace_id: workspaceId, scopes }));
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

async function make(fields: object = {}, client = admin): Promise<string> {
  return readString((await client.create(PATH, { ...VALID, ...fields }))['id'], 'id');
}

describe('POST /v1/policies/usage-limits', () => {
  it('returns 201 with only the id and the object', async () => {
    const answer = await admin.post(PATH, VALID);
    expect(answer.status).toBe(201);
    expect(jsonOf(answer)).toEqual({ id: UUID, object: 'policy_usage_limits' });
  });

  it('keeps every field of a new policy', async () => {
    const conditions = [
      { key: 'provider', value: ['cohere', 'Voy*'], excludes: 'jina' },
      { key: 'metadata.user', value: '*', excludes: ['bob', 'carol'] },
      { key: 'model', value: '@cohere/*' },
    ];
    const group_by = [{ key: 'metadata.user' }, { key: 'mcp_tool' }];
    const more = {
      description: 'For search',
      enforcement: 'monitor',
      unbounded: 'allow',
      type: 'tokens',
      credit_limit: 1e12,
    };
    const id = await make({ conditions, group_by, ...more, periodic_reset: 'weekly' });
    const policy = await admin.read(`${PATH}/${id}`);
    expect(policy).toEqual({
      id,
      slug: expect.stringMatching(/^search-per-user/),
      object: 'policy_usage_limits',
      organisation_id: UUID,
      workspace_id: null,
      name: VALID.name,
      conditions,
      group_by,
      alert_threshold: 8,
      periodic_reset: 'weekly',
      periodic_reset_days: null,
      status: 'active',
      next_reset_at: expect.any(Number),
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      ...more,
    });
    const monday = new Date(Number(policy['next_reset_at']) * 1_000);
    expect([monday.getUTCDay(), monday.getUTCHours()]).toEqual([1, 0]);
  });

  it('requires only conditions, groups, type and limit of a policy', async () => {
    const { conditions, group_by, type, credit_limit } = VALID;
    const { id } = await admin.create(PATH, { conditions, group_by, type, credit_limit });
    expect(await admin.read(`${PATH}/${String(id)}`)).toMatchObject({
      name: null,
      description: null,
      alert_threshold: null,
      periodic_reset: null,
      next_reset_at: null,
      enforcement: 'strict',
      unbounded: 'refuse',
    });
  });

  it.each([0, 0.000001, 0.1, 0.000000001, 1e12])('accepts a limit of %d dollars exactly', async (credit_limit) => {
    const id = await make({ credit_limit, alert_threshold: null });
    expect(await admin.read(`${PATH}/${id}`)).toMatchObject({ credit_limit });
  });

  it.each<[string, object]>([
    ['conditions', { conditions: undefined }],
    ['conditions', { conditions: [] }],
    ['conditions', { conditions: {} }],
    ['conditions', { conditions: [[]] }],
    ['conditions', { conditions: [[VALID.conditions[0]]] }],
    ['group_by', { group_by: [[]] }],
    ['conditions', { conditions: Array.from({ length: 21 }, () => VALID.conditions[0]) }],
    ['conditions.0.key', { conditions: [{ key: 'prompt', value: '*' }] }],
    ['conditions.0.key', { conditions: [{ value: '*' }] }],
    ['conditions.0.key', { conditions: [{ key: 'metadata.', value: '*' }] }],
    ['conditions.0.key', { conditions: [{ key: `metadata.${'x'.repeat(129)}`, value: '*' }] }],
    ['conditions.0.key', { conditions: [{ key: 'toString', value: '*' }] }],
    ['conditions.1.value', { conditions: [{ key: 'model', value: '*' }, { key: 'model' }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: '' }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: [] }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: ['a', ''] }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: [1] }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: 'x'.repeat(513) }] }],
    ['conditions.0.value', { conditions: [{ key: 'model', value: 'a\0b' }] }],
    ['conditions.0.excludes', { conditions: [{ key: 'model', value: '*', excludes: '' }] }],
    ['conditions.0.excludes', { conditions: [{ key: 'model', value: '*', excludes: null }] }],
    ['conditions.0.unless', { conditions: [{ key: 'model', value: '*', unless: 'x' }] }],
    ['conditions.0.value', { conditions: [{ key: 'provider', value: 'coher' }] }],
    ['conditions.0.value', { conditions: [{ key: 'provider', value: ['azure*', 'kohere*'] }] }],
    ['conditions.0.value', { conditions: [{ key: 'workspace_id', value: 'no-such' }] }],
    ['conditions.1.excludes', { conditions: [VALID.conditions[0], { ...VALID.conditions[0], excludes: ['no-such'] }] }],
    ['conditions.0.value', { conditions: [{ key: 'virtual_key', value: [randomUUID()] }] }],
    ['conditions.0.value', { conditions: [{ key: 'mcp_server', value: randomUUID() }] }],
    ['conditions.0.value', { conditions: [{ key: 'workspace_id', value: randomUUID() }] }],
    ['conditions.0.value', { conditions: [{ key: 'workspace_id', value: 'def*' }] }],
    ['conditions.0.excludes', { conditions: [{ key: 'workspace_id', value: '*', excludes: 'def*' }] }],
    ['conditions.0.value', { conditions: [{ key: 'api_key', value: 'search service' }] }],
    ['conditions.0.value', { conditions: [{ key: 'api_key', value: [randomUUID()] }] }],
    ['conditions.0.value', { conditions: [{ key: 'organisation_id', value: randomUUID() }] }],
    ['conditions.0.value', { conditions: [{ key: 'organisation_id', value: 'default' }] }],
    ['group_by', { group_by: undefined }],
    ['group_by', { group_by: [] }],
    ['group_by', { group_by: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ key: `metadata.${name}` })) }],
    ['group_by.0.key', { group_by: [{ key: 'config' }] }],
    ['group_by.1.key', { group_by: [{ key: 'api_key' }, { key: 'api_key' }] }],
    ['type', { type: undefined }],
    ['type', { type: 'requests' }],
    ['credit_limit', { credit_limit: undefined }],
    ['credit_limit', { credit_limit: -1 }],
    ['credit_limit', { credit_limit: '10' }],
    ['credit_limit', { credit_limit: null }],
    ['credit_limit', { credit_limit: 1e16 }],
    ['credit_limit', { credit_limit: 10.0000000001 }],
    ['credit_limit', { type: 'tokens', credit_limit: 10.5 }],
    ['alert_threshold', { alert_threshold: 10 }],
    ['alert_threshold', { alert_threshold: 11 }],
    ['alert_threshold', { alert_threshold: -1 }],
    ['alert_threshold', { credit_limit: 0, alert_threshold: 0 }],
    ['alert_threshold', { type: 'tokens', alert_threshold: 1.5 }],
    ['periodic_reset', { periodic_reset: 'daily' }],
    ['name', { name: 'x'.repeat(256) }],
    ['description', { description: 'x'.repeat(1_025) }],
    ['enforcement', { enforcement: 'soft' }],
    ['unbounded', { unbounded: 'maybe' }],
    ['unheard_of', { unheard_of: true }],
    ['status', { status: 'archived' }],
  ])('refuses a wrong %s: %j', async (param, fields) => {
    const answer = await admin.post(PATH, { ...VALID, ...fields });
    expect(answer.status).toBe(400);
    expect(brokenRulesOf(answer)).toContain(param);
  });

  it('accepts a name of 255 characters', async () => {
    expect(await make({ name: 'x'.repeat(255) })).toEqual(UUID);
  });

  it('names every broken rule of a policy at once', async () => {
    const answer = await admin.post(PATH, { type: 'x', credit_limit: -1 });
    expect(brokenRulesOf(answer)).toEqual(new Set(['conditions', 'group_by', 'type', 'credit_limit']));
  });
});

describe('tenants', () => {
  it('lets a key of a workspace make and see only policies of that workspace', async () => {
    const [own, wide] = [await make({}, member), await make()];
    expect(await member.read(`${PATH}/${own}`)).toMatchObject({ workspace_id: workspaceId });
    expect((await member.list(PATH)).map(({ id }) => id)).toEqual([own]);
    expect(new Set((await admin.list(PATH)).map(({ id }) => id))).toEqual(new Set([own, wide]));
    for (const path of [`${PATH}/${wide}`, `${PATH}/${wide}/entities`]) {
      expect(refusalOf(await member.get(path))).toEqual(MISSING);
    }
    expect(refusalOf(await member.patch(`${PATH}/${wide}`, { name: 'mine' }))).toEqual(MISSING);
    expect(refusalOf(await member.delete(`${PATH}/${wide}`))).toEqual(MISSING);
  });

  it("accepts the id or slug of the caller's own workspace only", async () => {
    for (const workspace_id of [workspaceId, 'team']) {
      expect(await admin.read(`${PATH}/${await make({ workspace_id })}`)).toMatchObject({ workspace_id: workspaceId });
    }
    expect((await admin.list(`${PATH}?workspace_id=team`)).length).toBe(2);
    expect(refusalOf(await member.post(PATH, { ...VALID, workspace_id: 'default' }))).toMatchObject({ status: 403 });
    expect((await admin.post(PATH, { ...VALID, workspace_id: other.workspaceId })).status).toBeGreaterThanOrEqual(400);
  });

  it('neither shows a policy to another organisation nor applies it there', async () => {
    const id = await make({ credit_limit: 0, alert_threshold: null });
    expect(await other.client.list(PATH)).toEqual([]);
    expect(refusalOf(await other.client.get(`${PATH}/${id}`))).toEqual(MISSING);
    const simulated = await other.client.post(`${PATH}/simulate`, { model: 'm' });
    expect(jsonOf(simulated)).toMatchObject({ decision: 'admitted', policies: [] });
  });
});

describe('names in conditions', () => {
  const onWorkspace = (value: string | string[], excludes?: string): object[] => [
    { key: 'workspace_id', value, ...(excludes === undefined ? {} : { excludes }) },
  ];

  it('accepts slugs of workspaces in conditions, also in a change, and stores ids', async () => {
    const id = await make({ conditions: onWorkspace(['team', '*'], 'default') });
    const { conditions } = await admin.read(`${PATH}/${id}`);
    expect(conditions).toEqual([{ key: 'workspace_id', value: [workspaceId, '*'], excludes: UUID }]);
    await admin.patch(`${PATH}/${id}`, { conditions: onWorkspace('team') });
    expect((await admin.read(`${PATH}/${id}`))['conditions']).toEqual(onWorkspace(workspaceId));
    const refused = await admin.patch(`${PATH}/${id}`, { conditions: onWorkspace('no-such') });
    expect(refusalOf(refused)).toMatchObject({ status: 400, param: 'conditions.0.value' });
  });

  it('replaces slugs that are still stored by ids when the conditions are sent again', async () => {
    const id = await make({ conditions: onWorkspace('team') });
    const byName = { key: 'metadata.team', value: 'team' };
    const conditions = [...onWorkspace(['team', 'gone'], 'team'), byName];
    const stored = [JSON.stringify(conditions), id];
    await gateway.app.dataSource.query('UPDATE usage_policies SET conditions = $1 WHERE id = $2', stored);
    await admin.patch(`${PATH}/${id}`, { conditions });
    const { conditions: resolved } = await admin.read(`${PATH}/${id}`);
    expect(resolved).toEqual([...onWorkspace([workspaceId, 'gone'], workspaceId), byName]);
  });

  it('refuses workspaces in conditions that the caller cannot see', async () => {
    for (const [client, ref] of [
      [member, 'default'],
      [member, other.workspaceId],
      [other.client, 'team'],
      [other.client, workspaceId],
    ] as const) {
      const answer = await client.post(PATH, { ...VALID, conditions: onWorkspace(ref) });
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'conditions.0.value' });
    }
  });

  it('accepts only API keys in conditions whose calls the caller can see', async () => {
    const made = { level: 'workspace', workspace_id: 'default', scopes: ['completions.write'] };
    const [elsewhere, shared] = [await admin.createKey(made), await admin.createKey({ scopes: made.scopes })];
    const onKey = (value: string): object => ({ ...VALID, conditions: [{ key: 'api_key', value }] });
    for (const value of [elsewhere.id, shared.id.toUpperCase(), 'f*']) {
      expect((await admin.post(PATH, onKey(value))).status).toBe(201);
    }
    expect((await member.post(PATH, onKey(shared.id))).status).toBe(201);
    for (const [client, id] of [
      [member, elsewhere.id],
      [other.client, shared.id],
    ] as const) {
      const answer = await client.post(PATH, onKey(id));
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'conditions.0.value' });
    }
  });

  it.each([
    [
      'an API key',
      'api_key',
      async () => (await admin.createKey({ scopes: ['completions.write'] })).id,
      '/v1/api-keys',
    ],
    ['a workspace', 'workspace_id', () => admin.createWorkspace('Gone'), '/v1/workspaces'],
  ])('keeps conditions on %s after its deletion, also when they are sent again', async (_what, key, make_, path) => {
    const [name, unused] = [await make_(), await make_()];
    const conditions = [{ key, value: [name, '*'], excludes: name }];
    const id = await make({ conditions });
    for (const gone of [name, unused]) expect((await admin.delete(`${path}/${gone}`)).status).toBeLessThan(300);
    const again = await admin.patch(`${PATH}/${id}`, { conditions, credit_limit: 20 });
    expect(jsonOf(again)).toMatchObject({ conditions });
    const refused = await admin.patch(`${PATH}/${id}`, { conditions: [{ key, value: [name, unused] }] });
    expect(refusalOf(refused)).toMatchObject({ status: 400, param: 'conditions.0.value' });
  });

  it("accepts only names of the policy's workspace in its conditions", async () => {
    const scopes = ['completions.write'];
    const inTeam = await admin.createKey({ level: 'workspace', workspace_id: 'team', scopes });
    const elsewhere = await admin.createKey({ level: 'workspace', workspace_id: 'default', scopes });
    const shared = await admin.createKey({ scopes });
    const on = (key: string, value: string): object => ({ workspace_id: 'team', conditions: [{ key, value }] });
    for (const id of [inTeam.id, shared.id]) await make(on('api_key', id));
    const policy = `${PATH}/${await make(on('workspace_id', 'team'))}`;
    for (const fields of [on('api_key', elsewhere.id), on('workspace_id', 'default')]) {
      const { conditions } = Object(fields);
      for (const answer of [
        await admin.post(PATH, { ...VALID, ...fields }),
        await admin.patch(policy, { conditions }),
      ]) {
        expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'conditions.0.value' });
      }
    }
  });

  it('looks up all names of the conditions together, however many they are', async () => {
    const queries = jest.spyOn(PostgresQueryRunner.prototype, 'query');
    const asked = async (count: number): Promise<number> => {
      queries.mockClear();
      const value = Array.from({ length: count }, () => randomUUID());
      const conditions = ['workspace_id', 'api_key'].map((key) => ({ key, value, excludes: ['team'] }));
      expect((await admin.post(PATH, { ...VALID, conditions })).status).toBe(400);
      // Background jobs of the gateway send queries meanwhile.
      return queries.mock.calls.filter((call) => JSON.stringify(call).includes(value[0] ?? '')).length;
    };
    const few = await asked(1);
    expect(few).toBeGreaterThan(0);
    expect(await asked(100)).toBe(few);
    queries.mockRestore();
  });

  it("accepts only the caller's own organisation in conditions", async () => {
    const onOrganisation = (value: string): object => ({ ...VALID, conditions: [{ key: 'organisation_id', value }] });
    expect((await other.client.post(PATH, onOrganisation(other.organisationId.toUpperCase()))).status).toBe(201);
    const answer = await admin.post(PATH, onOrganisation(other.organisationId));
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'conditions.0.value' });
  });

  it.each([
    ['workspace_id', () => workspaceId.toUpperCase()],
    ['provider', () => 'Cohere'],
    ['endpoint', () => 'Rerank'],
  ])('compares values of conditions in any case: %s', async (key, value) => {
    const id = await make({ conditions: [{ key, value: value() }] });
    const call = { workspace_id: 'team', provider: 'cohere', endpoint: 'rerank' };
    expect(jsonOf(await admin.post(`${PATH}/simulate`, call))).toMatchObject({ policies: [{ policy_id: id }] });
  });
});

describe('lists', () => {
  it('filters policies, and lists them in pages, newest first', async () => {
    const ids = [await make(), await make({ type: 'tokens' }), await make()];
    await admin.delete(`${PATH}/${ids[2]}`);
    expect((await admin.list(PATH)).map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect((await admin.list(`${PATH}?type=tokens`)).map(({ id }) => id)).toEqual([ids[1]]);
    expect((await admin.list(`${PATH}?status=archived`)).map(({ id }) => id)).toEqual([ids[2]]);
    expect(await admin.read(`${PATH}?page_size=1&current_page=1`)).toMatchObject({ data: [{ id: ids[0] }], total: 2 });
  });
});

describe('changes', () => {
  it.each(['patch', 'put'] as const)('changes only the fields that the request names: %s', async (method) => {
    const id = await make();
    const changed = await admin[method](`${PATH}/${id}`, { credit_limit: 20, periodic_reset: null, name: 'New' });
    expect(changed.status).toBe(200);
    expect(jsonOf(changed)).toMatchObject({ ...VALID, name: 'New', credit_limit: 20, periodic_reset: null });
  });

  it.each([
    ['group_by', { group_by: [{ key: 'model' }] }],
    ['type', { type: 'tokens' }],
    ['workspace_id', { workspace_id: 'team' }],
    ['alert_threshold', { credit_limit: 8 }],
    ['alert_threshold', { alert_threshold: 10 }],
    ['credit_limit', { credit_limit: null }],
    ['conditions', { conditions: [] }],
  ])('refuses a change of %s: %j', async (param, fields) => {
    const id = await make();
    const answer = await admin.patch(`${PATH}/${id}`, fields);
    expect(answer.status).toBe(400);
    expect(brokenRulesOf(answer)).toContain(param);
    expect(await admin.read(`${PATH}/${id}`)).toMatchObject(VALID);
  });

  it('removes an alert with a change to null', async () => {
    const id = await make();
    expect(jsonOf(await admin.patch(`${PATH}/${id}`, { alert_threshold: null, credit_limit: 1 }))).toMatchObject({
      alert_threshold: null,
      credit_limit: 1,
    });
  });

  it.each(['name', 'description'])('removes the %s with a change to null', async (field) => {
    const id = await make({ [field]: 'of the search team' });
    expect(jsonOf(await admin.patch(`${PATH}/${id}`, { [field]: null }))).toMatchObject({ [field]: null });
    expect(await admin.read(`${PATH}/${await make({ [field]: null })}`)).toMatchObject({ [field]: null });
  });

  it('writes each change into the audit log once', async () => {
    const id = await make();
    await admin.patch(`${PATH}/${id}`, { credit_limit: 20 });
    expect((await admin.delete(`${PATH}/${id}`)).status).toBe(204);
    expect((await admin.delete(`${PATH}/${id}`)).status).toBe(204);
    const entries = await admin.list('/v1/audit-logs?page_size=100');
    const own = entries.filter((entry) => entry['resource_id'] === id).map(({ action }) => action);
    expect(own).toHaveLength(3);
    expect(new Set(own)).toEqual(new Set(['policies.create', 'policies.delete', 'policies.update']));
  });
});
