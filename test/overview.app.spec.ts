import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readArray, readObject, readString } from '../src/common/json/read.js';
import { RequestLog } from '../src/request-logs/request-log.entity.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { everyDays, windowAt } from '../src/usage/windows.js';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const DAY_MS = 86_400_000;

let gateway: TestApp;
let admin: GatewayClient;
let organisationId: string;
let workspaceId: string;
let keyId: string;
/** Midnight. */
let today: number;
let groups = 0;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  // Noon in the middle of a month: no figure depends on when the test runs.
  const noon = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 15, 12);
  gateway.clock.advance(noon - gateway.clock.now().getTime());
  today = noon - DAY_MS / 2;
  workspaceId = await admin.createWorkspace('Search team');
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
  ({ id: keyId } = await admin.createKey({ name: 'search app', scopes: ['completions.write'] }));
});
afterAll(() => gateway.close());

async function spend(at: number, fields: Partial<UsageEvent> = {}, organisation = organisationId): Promise<void> {
  await gateway.dataSource.getRepository(UsageEvent).insert({
    id: randomUUID(),
    at: new Date(at),
    organisationId: organisation,
    workspaceId: null,
    apiKeyId: keyId,
    virtualKey: 'openai',
    provider: 'openai',
    model: 'gpt-x',
    endpoint: 'chat_completions',
    costNano: '1000000',
    tokens: '10',
    quantities: {},
    source: 'provider',
    outcome: 'answered',
    metadata: {},
    traceId: 'trace',
    attempt: 1,
    mode: 'standard',
    tier: 0,
    priceIds: [],
    bucketIds: [],
    amounts: [],
    ...fields,
  });
}

async function log(at: number, fields: Partial<RequestLog>, organisation = organisationId): Promise<void> {
  await gateway.dataSource.getRepository(RequestLog).insert({
    id: randomUUID(),
    createdAt: new Date(at),
    organisationId: organisation,
    actorType: 'api_key',
    actorId: keyId,
    method: 'POST',
    route: '/v1/chat/completions',
    status: 200,
    outcome: 'ok',
    durationMs: 100,
    traceId: randomUUID(),
    metadata: {},
    ...fields,
  });
}

/** A group with a limit of one dollar. */
async function addGroup(
  policyId: unknown,
  group: { valueKey: string; windowId: string; used: string; resetsAt: Date | undefined },
): Promise<void> {
  const { valueKey, windowId, used, resetsAt } = group;
  groups += 1;
  await gateway.dataSource.query(
    `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, used,
       credit_limit, resets_at) VALUES ($1, $2, $3, gen_random_uuid(), $4, $5, $6, 'cost', $7, '1000000000', $8)`,
    [policyId, `hash-${groups}`, windowId, groups, organisationId, valueKey, used, resetsAt ?? null],
  );
}

async function attention(client: GatewayClient, kind: string) {
  const { attention: all } = await client.read('/v1/overview');
  return readArray(all, 'attention')
    .map((each) => readObject(each, 'attention'))
    .filter((each) => each['kind'] === kind);
}

describe('the overview', () => {
  it('adds up today, seven days and the month, and groups seven days by what cost most', async () => {
    const other = await addTenant(gateway, 'other');
    await spend(today + 1);
    await spend(today - 3 * DAY_MS, { workspaceId, model: 'gpt-y', costNano: '5000000', outcome: 'failed' });
    await spend(today - 10 * DAY_MS, { costNano: '7000000' });
    await spend(today - 40 * DAY_MS);
    await spend(today + 1, { costNano: '900000000' }, other.organisationId);
    const overview = await admin.read('/v1/overview');
    expect(overview).toMatchObject({
      today: { start: today / 1_000, calls: 1, failed_calls: 0, cost: 0.001, tokens: 10 },
      last_7_days: { start: (today - 6 * DAY_MS) / 1_000, calls: 2, failed_calls: 1, cost: 0.006, tokens: 20 },
      month: { start: (today - 14 * DAY_MS) / 1_000, calls: 3, cost: 0.013 },
      groups: {
        model: [
          { id: 'gpt-y', name: 'gpt-y', cost: 0.005 },
          { id: 'gpt-x', name: 'gpt-x', cost: 0.001 },
        ],
        workspace: [
          { id: workspaceId, name: 'Search team', cost: 0.005 },
          { id: null, name: null, cost: 0.001 },
        ],
        api_key: [{ id: keyId, name: 'search app', cost: 0.006 }],
        provider: [{ id: 'openai', name: 'openai', calls: 2 }],
      },
    });
  });

  it('shows a caller of one workspace only its own, and refuses one without the scope', async () => {
    const { client: member } = await admin.createKey({
      level: 'workspace',
      workspace_id: workspaceId,
      scopes: ['usage.read'],
    });
    expect(await member.read('/v1/overview')).toMatchObject({ last_7_days: { calls: 1, cost: 0.005 }, attention: [] });
    const { client: stranger } = await admin.createKey({ scopes: ['api_keys.list'] });
    expect(refusalOf(await stranger.get('/v1/overview'))).toMatchObject({ status: 403, code: 'permission_denied' });
  });

  it('has no latency without calls, and then that of the last day', async () => {
    expect(await admin.read('/v1/overview')).toMatchObject({ latency: null });
    for (const durationMs of [100, 200, 300, 4_000]) await log(today, { durationMs });
    await log(today - 2 * DAY_MS, { durationMs: 90_000 });
    expect(await admin.read('/v1/overview')).toMatchObject({ latency: { calls: 4, p50_ms: 200, p95_ms: 4_000 } });
  });

  it('names keys that end within a week, not others', async () => {
    const now = gateway.clock.now().getTime() / 1_000;
    const soon = Math.floor(now + 86_400);
    const { id } = await admin.createKey({ name: 'ends soon', scopes: ['usage.read'], expires_at: soon });
    await admin.createKey({ name: 'ends late', scopes: ['usage.read'], expires_at: soon + 7 * 86_400 });
    expect(await attention(admin, 'key_expiring')).toEqual([
      { kind: 'key_expiring', id, name: 'ends soon', detail: null, used_share: null, enforcement: null, at: soon },
    ]);
    const { client: reader } = await admin.createKey({ scopes: ['usage.read'] });
    expect(await attention(reader, 'key_expiring')).toEqual([]);
  });

  it('names models without a price, and servers whose last call failed', async () => {
    await log(today, { status: 412, errorCode: 'price_unknown', model: 'new-model' });
    await log(today + 1, { status: 412, errorCode: 'price_unknown', model: 'new-model' });
    await log(today, { mcpServer: 'mended', status: 502, errorCode: 'upstream_failed' });
    await log(today + 1, { mcpServer: 'mended', status: 200 });
    await log(today, { mcpServer: 'broken', status: 200 });
    await log(today + 1_000, {
      mcpServer: 'broken',
      status: 504,
      errorCode: 'upstream_timeout',
      outcome: 'gateway_error',
    });
    expect(await attention(admin, 'model_without_price')).toMatchObject([{ id: null, name: 'new-model', detail: '2' }]);
    const { client: reader } = await admin.createKey({ scopes: ['usage.read'] });
    expect(await attention(reader, 'model_without_price')).toEqual([]);
    expect(await attention(admin, 'server_failing')).toEqual([
      {
        kind: 'server_failing',
        id: null,
        name: 'broken',
        detail: 'upstream_timeout',
        used_share: null,
        enforcement: null,
        at: today / 1_000 + 1,
      },
    ]);
  });

  it('goes by the last call that says something of a server', async () => {
    const FAILED = { status: 502, errorCode: 'provider_failed', outcome: 'gateway_error' } as const;
    const other = await addTenant(gateway, 'of other servers');
    await log(today, { mcpServer: 'behind-refusals', ...FAILED });
    const refused = { mcpServer: 'behind-refusals', outcome: 'gateway_error' } as const;
    await log(today + 1_000, { ...refused, status: 403, errorCode: 'permission_denied' });
    await log(today + 2_000, { ...refused, status: 499, outcome: 'cancelled' });
    await log(today, {
      mcpServer: 'stream-of-old-token',
      status: 200,
      errorCode: 'token_invalid',
      outcome: 'gateway_error',
    });
    await log(today, { mcpServer: 'cut-off', ...FAILED, status: 200 });
    await log(today, { mcpServer: 'refuses-arguments', status: 400, outcome: 'rpc_error' });
    await log(today, { mcpServer: 'of-others', ...FAILED }, other.organisationId);
    const found = await attention(admin, 'server_failing');
    const names = found.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['behind-refusals', 'cut-off']));
    for (const name of ['stream-of-old-token', 'refuses-arguments', 'of-others']) expect(names).not.toContain(name);
    const { client: reader } = await admin.createKey({ scopes: ['usage.read'] });
    expect(await attention(reader, 'server_failing')).toEqual([]);
  });

  it('names models whose calls were recorded without a price, until they have one', async () => {
    const other = await addTenant(gateway, 'elsewhere');
    const quantities = { input: 5 };
    await spend(today, { model: 'free-model', quantities, costNano: '0' });
    await spend(today + 1, { model: 'free-model', quantities, costNano: '0' });
    await spend(today, { model: 'free-of-charge', quantities, costNano: '0', priceIds: [randomUUID()] });
    await spend(today, { model: 'never-answered', outcome: 'failed', costNano: '0' });
    await spend(today - 2 * DAY_MS, { model: 'long-ago', quantities, costNano: '0' });
    await spend(today, { model: 'of-others', quantities, costNano: '0' }, other.organisationId);
    const { client: reader } = await admin.createKey({ scopes: ['usage.read'] });
    for (const client of [admin, reader]) {
      expect(await attention(client, 'model_not_charged')).toEqual([
        {
          kind: 'model_not_charged',
          id: null,
          name: 'free-model',
          detail: '2',
          used_share: null,
          enforcement: null,
          at: today / 1_000,
        },
      ]);
    }
    const place = { level: 'workspace', workspace_id: workspaceId, scopes: ['usage.read'] };
    const { client: member } = await admin.createKey(place);
    expect(await attention(member, 'model_not_charged')).toEqual([]);
    const price = { provider: 'openai', unit: 'input', price: '0.01' };
    await admin.create('/v1/prices', { ...price, model: 'free-of*' });
    expect(await attention(admin, 'model_not_charged')).toHaveLength(1);
    await admin.create('/v1/prices', { ...price, model: 'free-m*' });
    expect(await attention(admin, 'model_not_charged')).toEqual([]);
  });

  it('names a model whose price came at its last call no more, and one that calls go without in spite of a price', async () => {
    const now = gateway.clock.now().getTime();
    const price = { provider: 'openai', unit: 'input', price: '0.01' };
    for (const model of ['priced-now', 'priced-in-vain']) {
      await spend(now, { model, quantities: { input: 5 }, costNano: '0' });
    }
    await admin.create('/v1/prices', { ...price, model: 'priced-now' });
    await admin.create('/v1/prices', {
      ...price,
      model: 'priced-in-vain',
      effective_from: Math.floor(now / 1_000) - 90,
    });
    expect(await attention(admin, 'model_not_charged')).toMatchObject([{ name: 'priced-in-vain' }]);
  });

  it('names groups that have used 80 % or all of an active limit', async () => {
    const policy = {
      name: 'Monthly',
      conditions: [{ key: 'model', value: '*' }],
      group_by: [{ key: 'metadata.user' }],
      type: 'cost',
      credit_limit: 1,
      periodic_reset: 'monthly',
    };
    const { id } = await admin.create('/v1/policies/usage-limits', policy);
    const resets = new Date(Date.UTC(gateway.clock.now().getUTCFullYear(), gateway.clock.now().getUTCMonth() + 1));
    const month = gateway.clock.now().toISOString().slice(0, 7);
    const bucket = (ordinal: number, used: string, windowId = month, at = resets): Promise<void> =>
      addGroup(id, { valueKey: `user:${ordinal}`, windowId, used, resetsAt: at });
    await bucket(1, '790000000');
    await bucket(2, '900000000');
    await bucket(3, '1200000000');
    await bucket(4, '1200000000', month, new Date(today));
    // From before the limit became monthly.
    await bucket(5, '1200000000', '2026-W48');
    await bucket(6, '1200000000', '2026-11-28+30');
    const item = { id, name: 'Monthly', enforcement: 'strict', at: resets.getTime() / 1_000 };
    expect(await attention(admin, 'limit_near')).toEqual([
      { ...item, kind: 'limit_near', detail: 'user:2', used_share: 0.9 },
    ]);
    expect(await attention(admin, 'group_exhausted')).toMatchObject([{ ...item, detail: 'user:3', used_share: 1.2 }]);
    await admin.delete(`/v1/policies/usage-limits/${String(id)}`);
    expect(await attention(admin, 'group_exhausted')).toEqual([]);
  });

  it('names twenty groups of each kind, those of strict limits first', async () => {
    const policy = { conditions: [{ key: 'model', value: '*' }], group_by: [{ key: 'metadata.user' }], type: 'cost' };
    const limit = async (enforcement: string) => {
      const fields = { ...policy, name: enforcement, enforcement, credit_limit: 1 };
      return String((await admin.create('/v1/policies/usage-limits', fields))['id']);
    };
    const [monitor, strict] = [await limit('monitor'), await limit('strict')];
    const group = (policyId: string, user: number, used: string): Promise<void> =>
      addGroup(policyId, { valueKey: `user:${user}`, windowId: 'cum', used, resetsAt: undefined });
    for (let user = 0; user < 41; user += 1) await group(monitor, user, '5000000000');
    await group(strict, 1, '1000000000');
    await group(strict, 2, '900000000');
    const exhausted = await attention(admin, 'group_exhausted');
    expect(exhausted).toHaveLength(20);
    expect(exhausted.map(({ enforcement }) => enforcement).slice(0, 2)).toEqual(['strict', 'monitor']);
    expect(await attention(admin, 'limit_near')).toMatchObject([{ name: 'strict', detail: 'user:2' }]);
    for (const id of [monitor, strict]) await admin.delete(`/v1/policies/usage-limits/${id}`);
  });

  it('knows the running window of each kind of reset', async () => {
    const now = gateway.clock.now();
    const kinds = [
      [{ periodic_reset: 'weekly' }, windowAt('weekly', now)],
      [{ periodic_reset_days: 30 }, windowAt(everyDays(30, now), now)],
      [{}, windowAt(null, now)],
    ] as const;
    for (const [reset, window] of kinds) {
      const policy = {
        name: window.id,
        conditions: [{ key: 'model', value: '*' }],
        group_by: [{ key: 'model' }],
        type: 'cost',
      };
      const { id } = await admin.create('/v1/policies/usage-limits', { ...policy, credit_limit: 1, ...reset });
      await addGroup(id, { valueKey: 'model:m', windowId: window.id, used: '1000000000', resetsAt: window.resetsAt });
    }
    const found = (await attention(admin, 'group_exhausted')).map(({ name }) => name);
    expect(new Set(found)).toEqual(new Set(kinds.map(([, { id }]) => id)));
  });

  it('names secret references whose last read failed, to those who may use them', async () => {
    const reference = {
      name: 'Broken',
      manager_type: 'vendorC_vault',
      secret_path: 'secret/x',
      auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 'x' },
      allowed_workspaces: ['default'],
    };
    const { id } = await admin.create('/v1/secret-references', reference);
    expect(await attention(admin, 'reference_failing')).toEqual([]);
    await gateway.dataSource.query(`UPDATE secret_references SET last_error = 'secret_denied' WHERE id = $1`, [id]);
    expect(await attention(admin, 'reference_failing')).toMatchObject([
      { id, name: 'Broken', detail: 'secret_denied' },
    ]);
    const scopes = ['usage.read', 'secret_references.list'];
    const { client: outside } = await admin.createKey({ level: 'workspace', workspace_id: workspaceId, scopes });
    expect(await attention(outside, 'reference_failing')).toEqual([]);
  });
});
