import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AuditService } from '../src/audit/audit.service.js';
import { readArray } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import type { GatewayClient } from './support/gateway-client.js';
import { onServer } from './support/services.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { COST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/policies/usage-limits';
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

let gateway: UsageGateway;
let admin: GatewayClient;
let other: Tenant;
let workspaceId: string;
/** A key of a workspace. */
let member: GatewayClient;

beforeAll(async () => {
  gateway = await startUsageGateway();
  ({ admin } = gateway);
  other = await addTenant(gateway.app, 'other');
  workspaceId = await admin.createWorkspace('Team');
  const scopes = ['policies.read', 'policies.update', 'policies.list'];
  ({ client: member } = await admin.createKey({ level: 'workspace', workspace_id: workspaceId, scopes }));
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

/** Creates a policy; per user by default. */
function make(fields: Readonly<Record<string, unknown>>): Promise<string> {
  return gateway.limit({ group_by: [{ key: 'metadata.user' }], ...fields });
}

function callAs(user: string): Promise<Answer> {
  return gateway.call({ headers: { 'x-gateway-metadata': JSON.stringify({ user }) } });
}

describe('the usage of a policy', () => {
  it('reports usage per group, and per policy with include_usage', async () => {
    const id = await make({ credit_limit: COST, periodic_reset: 'monthly' });
    for (const user of ['alice', 'bob']) await callAs(user);
    await gateway.books.ledger(2);
    const entities = `${PATH}/${id}/entities`;
    const [entity] = await admin.list(`${entities}?search=ALICE`);
    expect(entity).toEqual({
      id: UUID,
      object: 'usage-entity',
      value_key: 'metadata.user:alice',
      current_usage: COST,
      reserved: 0,
      credit_limit: COST,
      status: 'exhausted',
      next_reset_at: expect.any(Number),
      last_reset_at: null,
    });
    expect(await admin.list(`${entities}?search=%25`)).toEqual([]);
    expect(await admin.list(`${entities}?status=active`)).toEqual([]);
    expect(await admin.read(`${entities}?status=exhausted&page_size=1`)).toMatchObject({ total: 2 });
    expect(await admin.read(`${PATH}/${id}?include_usage=true`)).toMatchObject({
      usage: [{ object: 'usage-entity' }, { object: 'usage-entity' }],
    });
    expect(await admin.read(`${PATH}/${id}`)).not.toHaveProperty('usage');
    const listed = await admin.list(`${PATH}?include_usage=true`);
    expect(listed.find((limit) => limit['id'] === id)).toMatchObject({ usage: [{ status: 'exhausted' }] });
    expect((await admin.list(PATH)).find((limit) => limit['id'] === id)).not.toHaveProperty('usage');
  });

  it('finds groups by the names of keys and workspaces that the caller may list', async () => {
    const group_by = [{ key: 'workspace_id' }, { key: 'api_key' }];
    const id = await gateway.limit({ group_by, credit_limit: 10, workspace_id: workspaceId });
    const call = { scopes: ['completions.write'], level: 'workspace', workspace_id: workspaceId };
    const groups: Record<string, string> = {};
    for (const name of ['night 100% job', 'day job']) {
      const key = await admin.createKey({ ...call, name });
      expect((await gateway.call({ headers: { 'x-gateway-api-key': key.key } })).status).toBe(200);
      groups[name] = key.id;
    }
    await gateway.books.ledger(2);
    const found = async (client: GatewayClient, search: string): Promise<unknown> =>
      (await client.list(`${PATH}/${id}/entities?search=${encodeURIComponent(search)}`)).map(
        ({ value_key: key }) => key,
      );
    const keyOf = (name: string): unknown => expect.stringContaining(`api_key:${groups[name]}`);
    expect(await found(admin, 'NIGHT')).toEqual([keyOf('night 100% job')]);
    expect(await found(admin, '100%')).toEqual([keyOf('night 100% job')]);
    expect(await found(admin, groups['day job'] ?? '')).toEqual([keyOf('day job')]);
    expect(await found(admin, 'Team')).toHaveLength(2);
    expect(await found(admin, 'nothing')).toEqual([]);
    // It may list neither keys nor workspaces.
    expect(await found(member, 'NIGHT')).toEqual([]);
    expect(await found(member, 'Team')).toEqual([]);
    const scopes = ['policies.read', 'api_keys.list'];
    const { client: reader } = await admin.createKey({ level: 'workspace', workspace_id: workspaceId, scopes });
    expect(await found(reader, 'NIGHT')).toEqual([keyOf('night 100% job')]);
    expect(await found(reader, 'Team')).toEqual([]);
  });

  it('deletes a group, which starts from nothing with its next call', async () => {
    const id = await make({ credit_limit: COST, periodic_reset: 'monthly' });
    const entities = `${PATH}/${id}/entities`;
    await callAs('alice');
    expect((await callAs('alice')).status).toBe(412);
    const [entity] = await admin.list(entities);
    expect((await admin.delete(`${entities}/${String(entity?.['id'])}`)).status).toBe(204);
    expect(await admin.list(entities)).toEqual([]);
    expect((await callAs('alice')).status).toBe(200);
    const [entry] = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entry).toMatchObject({
      action: 'policies.delete_entity',
      changed_fields: [`entities.${String(entity?.['id'])}`],
      changes: { 'entities.metadata.user:alice': { old: COST, new: null } },
    });
  });

  it('does not delete a group while a call of it is in flight, nor one that does not exist', async () => {
    const id = await make({ credit_limit: 1, periodic_reset: 'monthly' });
    const entities = `${PATH}/${id}/entities`;
    const held: (() => void)[] = [];
    gateway.provider.replyWith((response, call) => held.push(() => scored()(response, call)));
    const answer = callAs('alice');
    await eventually(() => held.length === 1);
    const [entity] = await admin.list(entities);
    const refused = await admin.delete(`${entities}/${String(entity?.['id'])}`);
    expect([refused.status, jsonOf(refused)['error']]).toEqual([409, expect.objectContaining({ code: 'conflict' })]);
    held[0]?.();
    expect((await answer).status).toBe(200);
    await eventually(async () => (await admin.delete(`${entities}/${String(entity?.['id'])}`)).status === 204);
    for (const missing of [String(entity?.['id']), randomUUID(), 'alice'])
      expect((await admin.delete(`${entities}/${missing}`)).status).toBe(404);
  });

  it('reports a group as exhausted after a refusal until the limit is raised', async () => {
    const id = await make({ credit_limit: 1.5 * COST });
    const entities = `${PATH}/${id}/entities`;
    const exhausted = async (): Promise<readonly unknown[]> =>
      (await admin.list(`${entities}?status=exhausted`)).map(({ value_key, current_usage }) => [
        value_key,
        current_usage,
      ]);
    for (const user of ['alice', 'bob']) expect((await callAs(user)).status).toBe(200);
    await gateway.books.ledger(2);
    expect(await exhausted()).toEqual([]);
    for (let call = 0; call < 3; call += 1) expect((await callAs('alice')).status).toBe(412);
    expect(await exhausted()).toEqual([['metadata.user:alice', COST]]);
    expect(await admin.list(`${entities}?status=active`)).toMatchObject([{ value_key: 'metadata.user:bob' }]);
    expect(await admin.list(`${entities}?search=alice`)).toMatchObject([{ status: 'exhausted' }]);
    expect(await gateway.books.alerts()).toEqual(['usage_limit.exhausted']);
    await admin.patch(`${PATH}/${id}`, { credit_limit: 3 * COST });
    expect(await exhausted()).toEqual([]);
    expect(await admin.list(`${entities}?search=alice`)).toMatchObject([{ status: 'active' }]);
  });

  it('raises an alert when a policy change lowers a limit below the usage', async () => {
    const id = await make({ credit_limit: 1, alert_threshold: 0.5 });
    await callAs('alice');
    await gateway.books.ledger(1);
    await admin.patch(`${PATH}/${id}`, { name: 'Renamed', credit_limit: 2 * COST, alert_threshold: 1.5 * COST });
    expect(await gateway.books.alerts()).toEqual([]);
    const refused = await admin.patch(`${PATH}/${id}`, { credit_limit: COST, alert_threshold: COST });
    expect(refused.status).toBe(400);
    expect(await gateway.books.alerts()).toEqual([]);
    await admin.patch(`${PATH}/${id}`, { alert_threshold: COST });
    expect(await gateway.books.alerts()).toEqual(['usage_limit.threshold_reached']);
    for (let time = 0; time < 2; time += 1)
      await admin.patch(`${PATH}/${id}`, { credit_limit: COST, alert_threshold: 0 });
    expect(await gateway.books.alerts()).toEqual(['usage_limit.exhausted', 'usage_limit.threshold_reached']);
  });

  it('raises an alert when a policy returns to a period whose usage exceeds its limit', async () => {
    const id = await make({ credit_limit: 1, alert_threshold: 0.5 });
    await callAs('alice');
    await gateway.books.ledger(1);
    await admin.patch(`${PATH}/${id}`, { periodic_reset: 'weekly' });
    await admin.patch(`${PATH}/${id}`, { credit_limit: COST, alert_threshold: COST / 2 });
    expect(await gateway.books.alerts()).toEqual([]);
    await admin.patch(`${PATH}/${id}`, { periodic_reset: null });
    expect(await gateway.books.alerts()).toEqual(['usage_limit.exhausted', 'usage_limit.threshold_reached']);
  });

  it('raises no alert for an archived policy, which cannot be changed', async () => {
    const id = await make({ credit_limit: 1 });
    await callAs('alice');
    await gateway.books.ledger(1);
    await admin.delete(`${PATH}/${id}`);
    for (const changes of [{ credit_limit: 0 }, { conditions: [{ key: 'workspace_id', value: 'nobody' }] }]) {
      const answer = await admin.patch(`${PATH}/${id}`, changes);
      expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    }
    expect(await admin.read(`${PATH}/${id}`)).toMatchObject({ credit_limit: 1, status: 'archived' });
    expect(await gateway.books.alerts()).toEqual([]);
  });

  it('resets one group to zero and writes an audit entry', async () => {
    const id = await make({ credit_limit: 1 });
    for (const user of ['alice', 'bob']) await callAs(user);
    await gateway.books.ledger(2);
    const [alice] = await admin.list(`${PATH}/${id}/entities?search=alice`);
    const reset = (client: GatewayClient, entity: unknown): Promise<{ readonly status: number }> =>
      client.put(`${PATH}/${id}/entities/${String(entity)}/reset`, undefined);
    expect((await reset(other.client, alice?.['id'])).status).toBe(404);
    expect((await reset(member, alice?.['id'])).status).toBe(404);
    expect((await reset(admin, workspaceId)).status).toBe(404);
    expect((await reset(admin, alice?.['id'])).status).toBe(204);
    const used = (await admin.list(`${PATH}/${id}/entities`)).map((entity) => [
      entity['value_key'],
      entity['current_usage'],
    ]);
    expect(used).toEqual([
      ['metadata.user:bob', COST],
      ['metadata.user:alice', 0],
    ]);
    expect(await gateway.books.faults()).toEqual([]);
    const [entry] = await admin.list('/v1/audit-logs?page_size=1');
    const changes = { 'entities.metadata.user:alice': { old: COST, new: 0 } };
    expect(entry).toMatchObject({ action: 'policies.reset', resource_id: id, changes });
  });
});

describe('a reset that cannot finish', () => {
  let path: string;
  let entities: string;

  beforeEach(async () => {
    const id = await make({ credit_limit: 1 });
    await callAs('alice');
    await gateway.books.ledger(1);
    entities = `${PATH}/${id}/entities`;
    const [alice] = await admin.list(entities);
    path = `${entities}/${String(alice?.['id'])}/reset`;
  });

  async function nothingReset(): Promise<void> {
    expect(await admin.list(entities)).toMatchObject([{ current_usage: COST, last_reset_at: null }]);
    expect(await gateway.books.alerts()).toEqual([]);
  }

  it('rolls a reset back when its audit entry cannot be written', async () => {
    const audit = gateway.app.app.get(AuditService, { strict: false });
    const failing = jest.spyOn(audit, 'record').mockRejectedValueOnce(new Error('no room'));
    expect((await admin.put(path, undefined)).status).toBe(500);
    expect(failing).toHaveBeenCalledTimes(1);
    await nothingReset();
  });

  onServer('a locked bucket (needs DATABASE_URL: the embedded database has one session)', () => {
    it('returns store_unavailable for a reset while another session locks the bucket', async () => {
      const other = gateway.app.dataSource.createQueryRunner();
      await other.startTransaction();
      await other.query('SELECT FROM usage_buckets FOR UPDATE');
      const refused = await admin.put(path, undefined);
      await other.rollbackTransaction();
      await other.release();
      expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'store_unavailable' });
      await nothingReset();
      expect((await admin.put(path, undefined)).status).toBe(204);
    });
  });
});

describe('POST /v1/policies/usage-limits/simulate', () => {
  it('simulates the matching policies and their decisions without counting', async () => {
    const tight = await make({ credit_limit: COST });
    await make({ conditions: [{ key: 'provider', value: 'voyage' }], credit_limit: 0 });
    await callAs('alice');
    await gateway.books.ledger(1);
    const simulate = async (user: string): Promise<unknown> =>
      jsonOf(
        await admin.post(`${PATH}/simulate`, { provider: 'cohere', metadata: { user }, estimate: { cost: COST } }),
      );
    const policy = { policy_id: tight, type: 'cost', enforcement: 'strict', credit_limit: COST, reserved: 0 };
    expect(await simulate('alice')).toMatchObject({
      object: 'usage-simulation',
      decision: 'exceeded',
      policies: [
        { ...policy, value_key: 'metadata.user:alice', current_usage: COST, headroom: 0, decision: 'exceeded' },
      ],
    });
    expect(await simulate('bob')).toMatchObject({
      decision: 'admitted',
      policies: [{ ...policy, value_key: 'metadata.user:bob', current_usage: 0, headroom: COST }],
    });
    expect(await admin.list(`${PATH}/${tight}/entities`)).toHaveLength(1);
  });

  it('simulates quantities by unit for a limit in tokens', async () => {
    await make({ type: 'tokens', credit_limit: 100 });
    const decided = async (quantities: object): Promise<unknown> =>
      jsonOf(await admin.post(`${PATH}/simulate`, { metadata: { user: 'alice' }, estimate: { quantities } }))[
        'decision'
      ];
    expect(await decided({ input: 60, cache_read: 20, output: 20, search_unit: 900 })).toBe('admitted');
    expect(await decided({ input: 60, cache_read: 20, output: 21 })).toBe('exceeded');
  });

  it('admits a simulated call without cost although the limit is exceeded', async () => {
    const tight = await make({ credit_limit: COST });
    await callAs('alice');
    await gateway.books.ledger(1);
    await admin.put(`${PATH}/${tight}`, { credit_limit: COST / 2 });
    const call = { provider: 'cohere', metadata: { user: 'alice' } };
    const decided = async (more: object): Promise<unknown> =>
      jsonOf(await admin.post(`${PATH}/simulate`, { ...call, ...more }));
    expect(await decided({ estimate: { cost: COST / 2 } })).toMatchObject({ decision: 'exceeded' });
    expect(await decided({})).toMatchObject({ decision: 'admitted', policies: [{ headroom: 0 }] });
  });

  it('accepts ids, providers and endpoints in any case in a simulation', async () => {
    const conditions = [
      { key: 'provider', value: 'Azure-AI' },
      { key: 'endpoint', value: 'Rerank' },
      { key: 'model', value: 'rerank-v3.5' },
    ];
    await make({ conditions, credit_limit: 0 });
    const call = { provider: 'azure-ai', endpoint: 'rerank', model: 'cohere.rerank-v3.5', estimate: { cost: COST } };
    for (const spelling of [{}, { provider: 'Azure-AI' }, { endpoint: 'RERANK' }, { model: 'Cohere.Rerank-v3.5' }]) {
      expect(jsonOf(await admin.post(`${PATH}/simulate`, { ...call, ...spelling }))).toMatchObject({
        decision: 'exceeded',
      });
    }
    await make({ conditions: [{ key: 'virtual_key', value: gateway.cohere }], credit_limit: 0 });
    const byKey = (virtual_key: string): Promise<Answer> =>
      admin.post(`${PATH}/simulate`, { virtual_key, estimate: { cost: COST } });
    expect(jsonOf(await byKey(gateway.cohere))).toMatchObject({ decision: 'exceeded' });
    expect(refusalOf(await byKey(gateway.cohere.toUpperCase()))).toMatchObject({ status: 400, param: 'virtual_key' });
  });

  it("simulates a call with the key's enforced metadata and the workspace's defaults", async () => {
    const defaults = { metadata: { tier: 'free', user: 'nobody' } };
    const { id: workspace_id } = await admin.create('/v1/workspaces', { name: 'Simulated', defaults });
    const scopes = ['policies.read'];
    const key = await admin.createKey({ scopes, metadata: { user: 'alice', constructor: 'acme' } });
    const id = await make({ group_by: [{ key: 'metadata.user' }, { key: 'metadata.tier' }], credit_limit: 1 });
    await make({ conditions: [{ key: 'metadata.constructor', value: 'acme' }], credit_limit: 0 });
    const groupOf = async (body: object, client = admin): Promise<unknown> => {
      const { decision, policies } = jsonOf(
        await client.post(`${PATH}/simulate`, { estimate: { cost: COST }, ...body }),
      );
      const [shown] = readArray(policies, 'policies').filter((policy) => Object(policy).policy_id === id);
      return [decision, Object(shown).value_key];
    };
    const claimed = { metadata: { user: 'bob', constructor: 'other' } };
    expect(await groupOf(claimed)).toEqual(['admitted', 'metadata.tier:(none)|metadata.user:bob']);
    const alice = ['exceeded', 'metadata.tier:(none)|metadata.user:alice'];
    expect(await groupOf({ ...claimed, api_key: key.id })).toEqual(alice);
    expect(await groupOf({ ...claimed, api_key: key.id }, key.client)).toEqual(alice);
    expect(await groupOf({ workspace_id })).toEqual(['admitted', 'metadata.tier:free|metadata.user:nobody']);
    const both = ['exceeded', 'metadata.tier:free|metadata.user:alice'];
    expect(await groupOf({ ...claimed, workspace_id, api_key: key.id })).toEqual(both);
    const foreign = await other.client.createKey({ scopes, metadata: { user: 'carol' } });
    for (const api_key of ['unknown', randomUUID(), foreign.id]) {
      const answer = await admin.post(`${PATH}/simulate`, { api_key });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'api_key' });
    }
  });

  describe('simulations by a caller of a workspace', () => {
    const all = { group_by: [{ key: 'workspace_id' }] };
    const simulate = (body: object): Promise<Answer> => member.post(`${PATH}/simulate`, body);

    it("shows the workspace's own policies but decides by all matching policies", async () => {
      const own = await make({ ...all, name: 'own', credit_limit: 5, workspace_id: workspaceId });
      await make({ ...all, name: 'of another', credit_limit: 0, workspace_id: 'default' });
      await make({ ...all, name: 'of all', credit_limit: 3 });
      const [roomy, tight] = [await simulate({ estimate: { cost: 1 } }), await simulate({ estimate: { cost: 4 } })];
      const shown = [expect.objectContaining({ policy_id: own, decision: 'admitted' })];
      expect(jsonOf(roomy)).toEqual({ object: 'usage-simulation', decision: 'admitted', policies: shown });
      expect(jsonOf(tight)).toEqual({ object: 'usage-simulation', decision: 'exceeded', policies: shown });
      // As the list and read routes do.
      expect((await member.list(PATH)).map(({ id }) => id)).toEqual([own]);
    });

    it('reveals nothing about keys and workspaces of others in a simulation', async () => {
      await make({ group_by: [{ key: 'api_key' }], credit_limit: 1 });
      const foreign = await admin.createKey({ level: 'workspace', workspace_id: 'default', scopes: ['policies.read'] });
      for (const api_key of [foreign.id, 'unknown']) {
        const answer = await simulate({ api_key });
        expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'api_key' });
      }
      expect(refusalOf(await simulate({ workspace_id: 'default' }))).toMatchObject({ status: 404, code: 'not_found' });
      const fields = { level: 'workspace', workspace_id: workspaceId, scopes: ['usage.read'] };
      const sibling = await admin.createKey({ ...fields, metadata: { team: 'search' } });
      await make({ conditions: [{ key: 'metadata.team', value: 'search' }], credit_limit: 0 });
      const body = { metadata: { team: 'ads' }, estimate: { cost: COST } };
      expect(jsonOf(await simulate(body))).toMatchObject({ decision: 'admitted' });
      expect(jsonOf(await simulate({ ...body, api_key: sibling.id }))).toMatchObject({ decision: 'exceeded' });
    });

    it('simulates only virtual keys that the caller can use', async () => {
      await make({ group_by: [{ key: 'virtual_key' }], credit_limit: 1 });
      const add = (slug: string, fields: object): Promise<unknown> =>
        admin.create('/v1/virtual-keys', { name: slug, slug, provider: 'local', ...fields });
      await add('simulated-own', { workspace_id: workspaceId });
      await add('simulated-shared', {});
      await add('simulated-foreign', { workspace_id: 'default' });
      await other.client.create('/v1/virtual-keys', { name: 'x', slug: 'simulated-elsewhere', provider: 'local' });
      const answerTo = async (virtual_key: string): Promise<number> => (await simulate({ virtual_key })).status;
      for (const slug of ['simulated-own', 'simulated-shared'])
        expect([slug, await answerTo(slug)]).toEqual([slug, 200]);
      for (const virtual_key of ['simulated-foreign', 'simulated-elsewhere', 'simulated-unknown']) {
        expect(refusalOf(await simulate({ virtual_key }))).toMatchObject({ status: 400, param: 'virtual_key' });
      }
      // Callers of the whole organisation can read all of its usage.
      expect((await admin.post(`${PATH}/simulate`, { virtual_key: 'simulated-foreign' })).status).toBe(200);
    });
  });

  it.each([
    ['estimate.cost', { estimate: { cost: 1e-10 } }],
    ['estimate.tokens', { estimate: { tokens: 0.5 } }],
    ['estimate.tokens', { estimate: { tokens: -1 } }],
    ['estimate.quantities', { estimate: { quantities: { dreams: 1 } } }],
    ['estimate.quantities', { estimate: { quantities: { input: 0.5 } } }],
    ['estimate.quantities', { estimate: { quantities: { input: -1 } } }],
    ['estimate.quantities', { estimate: { quantities: [5] } }],
    ['estimate.quantities', { estimate: { quantities: { input: 1 }, tokens: 1 } }],
    ['metadata', { metadata: { user: 1 } }],
    ['organisation', { organisation: 'x' }],
  ])('refuses a simulation with a wrong %s', async (param, body) => {
    const answer = await admin.post(`${PATH}/simulate`, body);
    expect(answer.status).toBe(400);
    expect(brokenRulesOf(answer)).toContain(param);
  });
});
