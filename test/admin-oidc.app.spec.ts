import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { readArray, readString } from '../src/common/json/read.js';
import { GatewayClient } from './support/gateway-client.js';
import {
  type IdentityProvider,
  OTHER_AUDIENCE,
  startIdentityProvider,
  UUID_CLIENT,
} from './support/identity-provider.js';
import { jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant, type Tenant } from './support/tenants.js';

const INVALID = { status: 401, code: 'token_invalid', param: null, source: 'gateway' };
const MISMATCH = { status: 403, code: 'tenant_mismatch', param: 'organisation_id', source: 'gateway' };
const NOT_NAMED = { status: 400, code: 'validation_failed', param: 'organisation_id', source: 'gateway' };
const POLICY = {
  conditions: [{ key: 'model', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 1,
};
const RATE_LIMIT = { type: 'requests', unit: 'rpm', value: 5 };
const SECRET_REFERENCE = {
  name: 'Fields',
  manager_type: 'cloudA_sm',
  secret_path: 'one',
  auth_config: {
    cloudA_auth_type: 'accessKey',
    cloudA_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    cloudA_secret_access_key: 'x'.repeat(40),
    cloudA_region: 'eu-central-1',
  },
};

let provider: IdentityProvider;
let gateway: TestApp;
let nobody: GatewayClient;
let owner: GatewayClient;
let other: Tenant;
let organisationId: string;
/** An administrator of one organisation with every scope. */
let admin: GatewayClient;
/** An administrator of two. */
let adminOfTwo: GatewayClient;

beforeAll(async () => {
  provider = await startIdentityProvider();
  gateway = await startTestApp(provider.settings);
  nobody = new GatewayClient(gateway.url, {});
  owner = new GatewayClient(gateway.url);
  other = await addTenant(gateway, 'other');
  const workspace = await owner.read('/v1/workspaces/default');
  organisationId = readString(workspace['organisation_id'], 'organisation_id');
  admin = nobody.withToken(await provider.tokenFor({ scopes: SCOPES, organisationId }));
  const both = [organisationId, other.organisationId];
  adminOfTwo = nobody.withToken(await provider.tokenFor({ clientId: 'console', scopes: SCOPES, organisationId: both }));
});

afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** Creates that name no organisation, by their paths. */
function creates(): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  return [
    ['/v1/workspaces', { name: `Workspace ${randomUUID()}` }],
    ['/v1/api-keys', { name: 'key', scopes: ['api_keys.read'], level: 'organisation' }],
    ['/v1/virtual-keys', { name: `Key ${randomUUID()}`, provider: 'local' }],
  ];
}

describe("an administrator's token", () => {
  it('creates, reads, changes and deletes every kind of resource in its organisation', async () => {
    for (const [path, fields] of creates()) {
      const { id } = await admin.create(path, { ...fields, organisation_id: organisationId });
      const resource = `${path}/${String(id)}`;
      expect(await admin.read(resource)).toMatchObject({ organisation_id: organisationId });
      const changed = await admin.patch(resource, { name: 'renamed', organisation_id: organisationId });
      expect(jsonOf(changed)).toMatchObject({ name: 'renamed' });
      expect(await owner.read(resource)).toMatchObject({ name: 'renamed' });
      expect((await admin.delete(resource)).status).toBe(204);
    }
  });

  it('requires a workspace beside the organisation when an administrator creates a policy', async () => {
    const path = '/v1/policies/usage-limits';
    const policy = { ...POLICY, organisation_id: organisationId };
    expect(refusalOf(await admin.post(path, policy))).toMatchObject({ status: 400, param: 'workspace_id' });
    const { id } = await admin.create(path, { ...policy, workspace_id: 'default' });
    expect(await owner.read(`${path}/${String(id)}`)).toMatchObject({ workspace_id: expect.any(String) });
    expect((await admin.delete(`${path}/${String(id)}`)).status).toBe(204);
    expect(await admin.read(`${path}/${String(id)}`)).toMatchObject({ status: 'archived' });
  });

  it('accepts the id of the organisation in capitals, in the token and in the body', async () => {
    const capitals = organisationId.toUpperCase();
    const shouting = nobody.withToken(await provider.tokenFor({ scopes: SCOPES, organisationId: capitals }));
    const fields = { name: 'Loud', provider: 'cohere', key: 'first-secret', organisation_id: capitals };
    const { id } = await shouting.create('/v1/virtual-keys', fields);
    // What is sealed for an organisation opens for that very spelling only.
    for (const client of [admin, shouting, owner]) {
      const change = { key: 'second-secret', organisation_id: capitals };
      expect((await client.patch(`/v1/virtual-keys/${String(id)}`, change)).status).toBe(200);
    }
    expect(await owner.read(`/v1/virtual-keys/${String(id)}`)).toMatchObject({ organisation_id: organisationId });
    expect((await owner.post('/v1/workspaces', { name: 'Named', organisation_id: capitals })).status).toBe(201);
  });

  it.each([
    ['POST', '/v1/rerank', { query: 'q', documents: ['d'] }],
    ['POST', '/v1/batches', { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' }],
    ['GET', '/v1/batches', undefined],
    ['DELETE', '/v1/files/file-1', undefined],
  ] as const)('refuses administrator tokens on routes that call providers: %s %s', async (method, path, fields) => {
    const body = fields === undefined ? undefined : { ...fields, organisation_id: organisationId };
    const answer = await admin.request(method, path, body, { 'x-gateway-virtual-key': 'local' });
    expect(refusalOf(answer)).toMatchObject({ status: 401, code: 'api_key_invalid', source: 'gateway' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
  });

  it('filters the audit log by the subject of the token, also by a UUID in capitals', async () => {
    const workspace = { name: `Workspace ${randomUUID()}`, organisation_id: organisationId };
    const { id } = await nobody
      .withToken(await provider.tokenFor({ clientId: UUID_CLIENT, scopes: SCOPES, organisationId }))
      .create('/v1/workspaces', workspace);
    expect(await admin.list(`/v1/audit-logs?actor=${UUID_CLIENT}`)).toMatchObject([
      { actor_id: UUID_CLIENT, resource_id: id },
    ]);
    expect(await admin.list(`/v1/audit-logs?actor=${UUID_CLIENT.toLowerCase()}`)).toEqual([]);
  });

  it('treats a token that names its organisation twice as a token for one organisation', async () => {
    const claim = [organisationId, organisationId.toUpperCase()];
    const twice = nobody.withToken(await provider.tokenFor({ scopes: SCOPES, organisationId: claim }));
    expect((await twice.get('/v1/workspaces')).status).toBe(200);
    expect(refusalOf(await adminOfTwo.get('/v1/workspaces'))).toMatchObject(NOT_NAMED);
  });

  it('records the subject of the token as the actor in the audit log', async () => {
    const fields = { name: 'Audited', organisation_id: organisationId };
    const { id } = await admin.create('/v1/workspaces', fields);
    const [entry] = await admin.list(`/v1/audit-logs?resource=${String(id)}`);
    expect(entry).toMatchObject({ actor_type: 'admin_token', actor_id: 'terraform', action: 'workspaces.create' });
    expect(await admin.list('/v1/audit-logs?actor=nobody')).toEqual([]);
  });

  it.each([
    ['/v1/workspaces', { name: 'Fields' }, { description: 'ours' }],
    ['/v1/api-keys', { name: 'f', scopes: ['api_keys.read'], level: 'organisation' }, { rate_limits: [RATE_LIMIT] }],
    ['/v1/virtual-keys', { name: 'Fields', provider: 'local' }, { expires_at: 4_000_000_000 }],
    ['/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] }, { enabled: false }],
    ['/v1/mcp-servers', { name: 'Fields', url: 'https://example.com/mcp' }, { allowed_origins: ['https://a.example'] }],
    ['/v1/secret-references', SECRET_REFERENCE, { secret_path: 'another' }],
    ['/v1/policies/usage-limits', { ...POLICY, workspace_id: 'default' }, { credit_limit: 2 }],
  ])('records the changed fields in the audit log without organisation_id: %s', async (...given) => {
    const [path, fields, change] = given;
    const { id } = await admin.create(path, { ...fields, organisation_id: organisationId });
    const answer = await admin.patch(`${path}/${String(id)}`, { ...change, organisation_id: organisationId });
    expect(answer.status).toBe(200);
    const entries = await admin.list(`/v1/audit-logs?resource=${String(id)}`);
    const named = entries.map((entry) => readArray(entry['changed_fields'], 'changed_fields'));
    expect(named.map((names) => new Set(names))).toEqual([change, fields].map((sent) => new Set(Object.keys(sent))));
  });

  it('allows an administrator only the scopes of its token', async () => {
    const reader = nobody.withToken(await provider.tokenFor({ scopes: ['workspaces.list'], organisationId }));
    expect((await reader.get('/v1/workspaces')).status).toBe(200);
    const denied = { status: 403, code: 'permission_denied' };
    expect(refusalOf(await reader.get('/v1/api-keys'))).toMatchObject(denied);
    const create = { name: 'x', organisation_id: organisationId };
    expect(refusalOf(await reader.post('/v1/workspaces', create))).toMatchObject(denied);
  });

  it('refuses to grant scopes that the token lacks', async () => {
    const scopes = ['api_keys.create', 'api_keys.update', 'api_keys.read'];
    const limited = nobody.withToken(await provider.tokenFor({ scopes, organisationId }));
    const key = { name: 'x', level: 'organisation', organisation_id: organisationId };
    const escalation = { status: 403, code: 'permission_denied', param: 'scopes' };
    const wanted = { ...key, scopes: ['workspaces.delete'] };
    expect(refusalOf(await limited.post('/v1/api-keys', wanted))).toMatchObject(escalation);
    const { id } = await owner.createKey({ scopes: ['workspaces.delete'] });
    expect(refusalOf(await limited.post(`/v1/api-keys/${id}/rotate`))).toMatchObject(escalation);
    expect((await limited.post('/v1/api-keys', { ...key, scopes: ['api_keys.read'] })).status).toBe(201);
  });
});

describe('the organisation that an administrator acts for', () => {
  it('requires organisation_id for every create by an administrator', async () => {
    for (const [path, fields] of creates()) {
      expect(refusalOf(await admin.post(path, fields))).toEqual(NOT_NAMED);
      expect(refusalOf(await admin.post(path, { ...fields, organisation_id: null }))).toEqual(NOT_NAMED);
    }
  });

  it('refuses an organisation that the token does not grant', async () => {
    for (const [path, fields] of creates()) {
      for (const organisation_id of [other.organisationId, randomUUID()]) {
        expect(refusalOf(await admin.post(path, { ...fields, organisation_id }))).toEqual(MISMATCH);
      }
      for (const organisation_id of ['default', '']) {
        expect(refusalOf(await admin.post(path, { ...fields, organisation_id }))).toEqual(NOT_NAMED);
      }
    }
    expect(refusalOf(await admin.get(`/v1/workspaces?organisation_id=${other.organisationId}`))).toEqual(MISMATCH);
  });

  it('reads without organisation_id when the token grants one organisation', async () => {
    expect((await admin.list('/v1/workspaces')).every((item) => item['organisation_id'] === organisationId)).toBe(true);
    expect((await admin.get('/v1/workspaces/default')).status).toBe(200);
    expect((await admin.get(`/v1/workspaces/${other.workspaceId}`)).status).toBe(404);
  });

  it('requires organisation_id for reads when the token grants several organisations', async () => {
    expect(refusalOf(await adminOfTwo.get('/v1/workspaces'))).toEqual(NOT_NAMED);
    for (const id of [organisationId, other.organisationId]) {
      const seen = await adminOfTwo.list(`/v1/workspaces?organisation_id=${id}`);
      expect(new Set(seen.map((item) => item['organisation_id']))).toEqual(new Set([id]));
    }
    expect(refusalOf(await adminOfTwo.get(`/v1/workspaces?organisation_id=${randomUUID()}`))).toEqual(MISMATCH);
  });

  it('accepts organisation_id in the query beside a body', async () => {
    const path = `/v1/workspaces?organisation_id=${other.organisationId}`;
    const { id } = await adminOfTwo.create(path, { name: 'Beside' });
    expect((await other.client.get(`/v1/workspaces/${String(id)}`)).status).toBe(200);
    const rotate = `/v1/webhooks/${randomUUID()}/rotate-secret?organisation_id=${organisationId}`;
    expect(refusalOf(await adminOfTwo.post(rotate, { transition_seconds: 60 }))).toMatchObject({ status: 404 });
    expect(refusalOf(await admin.post(path, { name: 'Foreign' }))).toEqual(MISMATCH);
  });

  it('refuses a body and a query that name different organisations', async () => {
    const path = `/v1/workspaces?organisation_id=${organisationId.toUpperCase()}`;
    const fields = { name: 'Twice', organisation_id: other.organisationId };
    for (const client of [adminOfTwo, owner]) expect(refusalOf(await client.post(path, fields))).toEqual(NOT_NAMED);
    expect((await adminOfTwo.post(path, { ...fields, organisation_id: organisationId })).status).toBe(201);
  });

  it('creates in the organisation that the body names when the token grants several', async () => {
    const fields = { name: 'Theirs', organisation_id: other.organisationId };
    const { id } = await adminOfTwo.create('/v1/workspaces', fields);
    expect((await other.client.get(`/v1/workspaces/${String(id)}`)).status).toBe(200);
    expect((await owner.get(`/v1/workspaces/${String(id)}`)).status).toBe(404);
  });

  it.each([
    ['that does not exist', randomUUID()],
    ['by its slug', 'default'],
  ])('refuses a token that grants an organisation %s', async (_what, granted) => {
    const client = nobody.withToken(await provider.tokenFor({ scopes: SCOPES, organisationId: granted }));
    expect(refusalOf(await client.get('/v1/workspaces'))).toEqual(MISMATCH);
    const create = { name: 'x', organisation_id: organisationId };
    expect(refusalOf(await client.post('/v1/workspaces', create))).toEqual(MISMATCH);
  });
});

describe('refused administrator tokens', () => {
  it.each([
    ['no organisation', undefined],
    ['an empty list of them', []],
  ])('refuses a bearer token that grants %s', async (_what, granted) => {
    const client = nobody.withToken(await provider.tokenFor({ scopes: SCOPES, organisationId: granted }));
    expect(refusalOf(await client.get('/v1/workspaces'))).toEqual(INVALID);
    const create = { name: 'x', organisation_id: organisationId };
    expect(refusalOf(await client.post('/v1/workspaces', create))).toEqual(INVALID);
  });

  it('refuses a bearer token that was issued for another API of the same provider', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId, audience: OTHER_AUDIENCE });
    const answer = await nobody.withToken(token).get('/v1/workspaces');
    expect(refusalOf(answer)).toEqual(INVALID);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer .*error="invalid_token"/);
  });

  it('refuses a bearer token of another identity provider', async () => {
    const stranger = await startIdentityProvider();
    const token = await stranger.tokenFor({ scopes: SCOPES, organisationId });
    expect(refusalOf(await nobody.withToken(token).get('/v1/workspaces'))).toEqual(INVALID);
    await stranger.close();
  });

  it('refuses a bearer token that is damaged or malformed', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId });
    const [header = '', claims = '', signature = ''] = token.split('.');
    const damaged = `${header}.${claims}.${signature.slice(0, -8)}AAAAAAAA`;
    for (const text of [damaged, `${header}.${claims}.`, 'junk', `${header}..${signature}`]) {
      expect(refusalOf(await nobody.withToken(text).get('/v1/workspaces'))).toEqual(INVALID);
    }
  });

  it('treats a bearer token in the header of gateway keys as an invalid key', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId });
    expect(refusalOf(await nobody.as(token).get('/v1/workspaces'))).toMatchObject({ code: 'api_key_invalid' });
  });

  it('logs why a bearer token was refused, without the token', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId, audience: OTHER_AUDIENCE });
    await nobody.withToken(token).get('/v1/workspaces');
    expect(gateway.log()).toContain('"error_reason":"ERR_JWT_CLAIM_VALIDATION_FAILED"');
    expect(gateway.log()).not.toContain(token.split('.')[2]);
  });

  it('refuses bearer tokens when no identity provider is configured', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId });
    const without = await startTestApp({}, true);
    const client = new GatewayClient(without.url, {}).withToken(token);
    expect(refusalOf(await client.get('/v1/workspaces'))).toEqual(INVALID);
    await without.close();
  });
});

describe('an identity provider that is down', () => {
  it('reports that the identity provider is down and still accepts gateway keys', async () => {
    const stopped = await startIdentityProvider();
    const token = await stopped.tokenFor({ scopes: SCOPES, organisationId });
    await stopped.close();
    const app = await startTestApp(stopped.settings, true);
    const answer = await new GatewayClient(app.url, {}).withToken(token).get('/v1/workspaces');
    expect(refusalOf(answer)).toEqual({
      status: 502,
      code: 'identity_provider_unavailable',
      param: null,
      source: 'gateway',
    });
    expect((await new GatewayClient(app.url).get('/v1/workspaces')).status).toBe(200);
    await app.close();
  });
});
