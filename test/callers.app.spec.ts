import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LastUse } from '../src/api-keys/last-use.js';
import { GatewayClient } from './support/gateway-client.js';
import { jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

let gateway: TestApp;
let owner: Tenant;
let stranger: Tenant;

beforeAll(async () => {
  gateway = await startTestApp();
  owner = await addTenant(gateway, 'owner');
  stranger = await addTenant(gateway, 'stranger');
});
afterAll(() => gateway.close());

describe('an API key', () => {
  it('shows how it begins, who made it and whether it has expired', async () => {
    const { id: creator } = await owner.client.read('/v1/me');
    const now = Math.floor(gateway.clock.now().getTime() / 1_000);
    const { id, key } = await owner.client.createKey({
      scopes: ['usage.read'],
      expires_at: now + 60,
      description: 'D',
    });
    const at = `/v1/api-keys/${id}`;
    const read = await owner.client.read(at);
    expect(read).toMatchObject({ prefix: key.slice(0, 11), created_by: creator, status: 'active', description: 'D' });
    expect(key).toMatch(/^tg_[0-9A-Za-z]{8}_/);
    const rotated = jsonOf(await owner.client.post(`${at}/rotate`, {}));
    expect((await owner.client.read(at))['prefix']).toBe(String(rotated['key']).slice(0, 11));
    gateway.clock.advance(61_000);
    expect((await owner.client.read(at))['status']).toBe('expired');
    expect(await owner.client.list('/v1/api-keys?status=expired')).toMatchObject([{ id }]);
  });

  it('shows when it was last used, without a change of updated_at, and never for a refused key', async () => {
    const { id, client } = await owner.client.createKey({ scopes: ['usage.read'] });
    const at = `/v1/api-keys/${id}`;
    const before = await owner.client.read(at);
    expect(before['last_used_at']).toBeNull();
    const seconds = (): number => Math.floor(gateway.clock.now().getTime() / 1_000);
    const asked = seconds();
    expect((await client.get('/v1/workspaces')).status).toBe(403);
    await gateway.app.get(LastUse, { strict: false }).flush();
    const used = seconds();
    const { last_used_at: last, ...read } = await owner.client.read(at);
    expect({ last_used_at: null, ...read }).toEqual(before);
    expect(last).toBeGreaterThanOrEqual(asked);
    expect(last).toBeLessThanOrEqual(used);
    expect(await owner.client.list('/v1/api-keys?sort=-last_used_at&page_size=1')).toHaveLength(1);

    const other = await owner.client.createKey({ scopes: ['usage.read'], expires_at: used + 30 });
    gateway.clock.advance(31_000);
    expect((await other.client.get('/v1/me')).status).toBe(401);
    await gateway.app.get(LastUse, { strict: false }).flush();
    expect((await owner.client.read(`/v1/api-keys/${other.id}`))['last_used_at']).toBeNull();
  });
});

describe('GET /v1/me', () => {
  it('describes a key with its organisation and workspaces, whatever its scopes are', async () => {
    const { id, client } = await owner.client.createKey({
      name: 'mine',
      level: 'workspace',
      workspace_id: owner.workspaceId,
      scopes: ['usage.read'],
      metadata: { team: 'a' },
      type: 'user',
      user: { user_id: 'u' },
    });
    expect(await client.read('/v1/me')).toMatchObject({
      object: 'caller',
      type: 'api_key',
      id,
      name: 'mine',
      scopes: ['usage.read'],
      user: { user_id: 'u' },
      organisation: { id: owner.organisationId, object: 'organisation' },
      workspaces: [{ id: owner.workspaceId }],
      metadata: { team: 'a' },
      rate_limits: [],
      expires_at: null,
    });
    expect(await client.list('/v1/organisations')).toMatchObject([{ id: owner.organisationId }]);
  });

  it('shows a key of the organisation all of its workspaces, and no other organisation', async () => {
    const { id } = await owner.client.create('/v1/workspaces', { name: 'Another' });
    const { workspaces } = await owner.client.read('/v1/me');
    expect(workspaces).toEqual(expect.arrayContaining([expect.objectContaining({ id })]));
    expect(await stranger.client.list('/v1/organisations')).toMatchObject([{ id: stranger.organisationId }]);
  });

  it.each(['/v1/me', '/v1/organisations'])('refuses strangers at %s', async (path) => {
    expect(refusalOf(await new GatewayClient(gateway.url, {}).get(path))).toMatchObject({ status: 401 });
    const named = `${path}?organisation_id=${owner.organisationId}`;
    expect(refusalOf(await stranger.client.get(named))).toMatchObject({ status: 403, code: 'tenant_mismatch' });
    expect((await new GatewayClient(gateway.url).as(ADMIN_KEY).get(path)).status).toBe(200);
  });
});
