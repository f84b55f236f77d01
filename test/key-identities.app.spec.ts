// Who may make a key that speaks for a user, and the key that an organisation cannot lose.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { forEvery } from './support/for-every.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const MAKER = ['api_keys.create', 'api_keys.read', 'api_keys.update', 'mcp.invoke'] as const;
const ASSERTER = [...MAKER, 'identities.assert'] as const;
const ANN = { user_id: 'ann', email: 'ann@example.com', claims: { groups: ['search'] } };
const BOB = { user_id: 'bob', sub: 'idp|bob' };
const REFUSED = { status: 403, code: 'permission_denied', param: 'user' };

const AUTHORITY = 'iss amr acr auth_time email_verified scope client_id azp act cnf jti nonce'.split(' ');
const MANY = Object.fromEntries(Array.from({ length: 65 }, (_item, at) => [`c${at}`, at]));

let gateway: TestApp;
let admin: GatewayClient;
let workspaceId: string;
/** For tests that take the admin key of an organisation away. */
let other: Tenant;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  workspaceId = await admin.createWorkspace('Search');
  other = await addTenant(gateway, 'other');
});

afterAll(() => gateway.close());

const userKey = (user: object, more: object = {}): object => ({
  name: 'of a user',
  level: 'organisation',
  type: 'user',
  scopes: ['mcp.invoke'],
  user,
  ...more,
});

describe('a key that speaks for a user', () => {
  it('takes the scope identities.assert to make, and the first admin key has it', async () => {
    const { client } = await admin.createKey({ scopes: MAKER });
    expect(refusalOf(await client.post('/v1/api-keys', userKey(ANN)))).toMatchObject(REFUSED);
    expect(
      (await client.post('/v1/api-keys', { name: 'a', level: 'organisation', scopes: ['mcp.invoke'] })).status,
    ).toBe(201);
    const { client: asserter } = await admin.createKey({ scopes: ASSERTER });
    expect((await asserter.post('/v1/api-keys', userKey(ANN))).status).toBe(201);
  });

  it.each([
    ['another user', BOB],
    ['another subject', { ...ANN, sub: 'idp|bob' }],
    ['another claim', { ...ANN, claims: { groups: ['admins'] } }],
    ['no claims', { user_id: 'ann', email: 'ann@example.com' }],
  ])('is refused to the key of a user that names %s', async (_what, user) => {
    const { client } = await admin.createKey(userKey(ANN, { scopes: MAKER }));
    expect(refusalOf(await client.post('/v1/api-keys', userKey(user)))).toMatchObject(REFUSED);
  });

  it('can be made and rotated by a key of the same user', async () => {
    const { id, client } = await admin.createKey(userKey(ANN, { scopes: MAKER }));
    const { id: second } = await client.createKey(userKey(ANN));
    for (const own of [id, second]) expect((await client.post(`/v1/api-keys/${own}/rotate`, {})).status).toBe(200);
  });

  it('can be rotated by others only with the scope identities.assert', async () => {
    const { id } = await admin.createKey(userKey(BOB));
    const { client: service } = await admin.createKey({ scopes: MAKER });
    const { client: ann } = await admin.createKey(userKey(ANN, { scopes: MAKER }));
    for (const client of [service, ann]) {
      expect(refusalOf(await client.post(`/v1/api-keys/${id}/rotate`, {}))).toMatchObject(REFUSED);
    }
    const { client: asserter } = await admin.createKey({ scopes: ASSERTER });
    expect((await asserter.post(`/v1/api-keys/${id}/rotate`, {})).status).toBe(200);
  });

  it('can be made and rotated only in the workspace of a caller of one workspace', async () => {
    const { client } = await admin.createKey({ scopes: ASSERTER, level: 'workspace', workspace_id: workspaceId });
    const { id } = await client.createKey(userKey(ANN, { level: 'workspace' }));
    expect((await client.post(`/v1/api-keys/${id}/rotate`, {})).status).toBe(200);
    const elsewhere = userKey(ANN, { level: 'workspace', workspace_id: 'default' });
    expect(refusalOf(await client.post('/v1/api-keys', elsewhere))).toMatchObject({ code: 'tenant_mismatch' });
    expect(refusalOf(await client.post('/v1/api-keys', userKey(ANN)))).toMatchObject({ param: 'level', status: 403 });
    for (const key of [await admin.createKey(elsewhere), await admin.createKey(userKey(ANN))]) {
      expect((await client.post(`/v1/api-keys/${key.id}/rotate`, {})).status).toBe(404);
    }
  });

  it('cannot have a claim that only an authority can make, in any spelling', async () => {
    const spellings = AUTHORITY.flatMap((claim) => [claim, claim.toUpperCase(), claim.replace('s', 'ſ')]);
    await forEvery(
      spellings.map((claim) => [claim, claim] as const),
      async (claim) => {
        const answer = await admin.post('/v1/api-keys', userKey({ ...ANN, claims: { team: 'a', [claim]: 'x' } }));
        expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'user.claims' });
      },
    );
  });

  it.each([
    ['user.claims', { claims: { organisation_id: 'x' } }],
    ['user.claims', { claims: { aud: 'https://issues.example.com/mcp' } }],
    ['user.claims', { claims: MANY }],
    ['user.claims', { claims: { notes: 'x'.repeat(8_192) } }],
    ['user.claims', { claims: { lists: Array.from({ length: 5_000 }, () => ({})) } }],
    ['user.claims', { claims: [] }],
    ['user.sub', { sub: 'api_key:8f14e45f' }],
    ['user.user_id', { user_id: 'API_KEY:8f14e45f' }],
  ])('is refused with %s, case %#', async (param, change) => {
    const answer = await admin.post('/v1/api-keys', userKey({ ...ANN, ...change }));
    expect(answer.status).toBe(400);
    expect([...brokenRulesOf(answer)]).toEqual([param]);
  });

  it('is refused with the name of a machine, also where the address says the type', async () => {
    const body = { name: 'of a user', scopes: ['mcp.invoke'], user_id: 'api_key:8f14e45f' };
    const answer = await admin.post('/v1/api-keys/organisation/user', body);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'user_id' });
  });

  it('is named with its user in the audit log, whatever is done to the key', async () => {
    const { id } = await admin.createKey(userKey({ ...BOB, email: 'bob@example.com', claims: { groups: ['x'] } }));
    await admin.post(`/v1/api-keys/${id}/rotate`, {});
    await admin.patch(`/v1/api-keys/${id}`, { name: 'renamed' });
    await admin.delete(`/v1/api-keys/${id}`);
    const user = { user_id: 'bob', email: 'bob@example.com', sub: 'idp|bob' };
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => [entry['action'], entry['user']])).toEqual(
      ['delete', 'update', 'rotate', 'create'].map((verb) => [`api_keys.${verb}`, user]),
    );
    const { id: service } = await admin.createKey({ scopes: ['mcp.invoke'] });
    expect(await admin.list(`/v1/audit-logs?resource=${service}`)).toMatchObject([{ user: null }]);
  });
});

describe('the last key with all scopes', () => {
  const inHours = (hours: number): number => Math.floor(gateway.clock.now().getTime() / 1_000) + hours * 3_600;
  const full = (more: object = {}): object => ({ name: 'admin', level: 'organisation', scopes: SCOPES, ...more });

  async function adminKeyId(): Promise<string> {
    const [first] = (await other.client.listAll('/v1/api-keys')).filter(({ name }) => name === 'admin');
    return String(first?.['id']);
  }

  it('cannot be deleted, lose a scope or end, until there is another one that lasts as long', async () => {
    const id = await adminKeyId();
    const { id: almost } = await other.client.createKey(full({ name: 'b', scopes: SCOPES.slice(1) }));
    const { id: short } = await other.client.createKey(full({ name: 'c', expires_at: inHours(1) }));
    const { id: local } = await other.client.createKey(
      full({ name: 'd', level: 'workspace', workspace_id: other.workspaceId }),
    );
    const path = `/v1/api-keys/${id}`;
    for (const answer of [
      await other.client.delete(path),
      await other.client.patch(path, { scopes: SCOPES.slice(1) }),
      await other.client.put(path, { expires_at: inHours(24) }),
    ]) {
      expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    }
    expect((await other.client.patch(path, { name: 'renamed', scopes: [...SCOPES].reverse() })).status).toBe(200);
    for (const each of [almost, short, local])
      expect((await other.client.delete(`/v1/api-keys/${each}`)).status).toBe(204);
    const second = await other.client.createKey(full({ name: 'second' }));
    expect((await second.client.delete(path)).status).toBe(204);
    other = { ...other, client: second.client };
    expect(refusalOf(await second.client.delete(`/v1/api-keys/${second.id}`))).toMatchObject({ status: 409 });
  });

  it('cannot be bounded either, since it could not take its bounds off again', async () => {
    const [{ id } = { id: '' }] = (await other.client.listAll('/v1/api-keys')).filter(({ name }) => name === 'second');
    const path = `/v1/api-keys/${String(id)}`;
    const { id: bounded } = await other.client.createKey(full({ name: 'bounded', allowed_models: ['a'] }));
    const { slug } = await other.client.create('/v1/virtual-keys', { name: 'local', provider: 'local' });
    const boundaries = [
      { allowed_models: ['rerank-*'] },
      { allowed_virtual_keys: [slug] },
      { allowed_mcp_servers: ['tools'] },
      { allowed_mcp_tools: ['tools/*'] },
      { metadata: { team: 'a' } },
      { rate_limits: [{ type: 'requests', unit: 'rpm', value: 1 }] },
    ];
    const rows = boundaries.map((bounds) => [Object.keys(bounds).join(), bounds] as const);
    await forEvery(rows, async (bounds: object) => {
      expect(refusalOf(await other.client.patch(path, bounds))).toMatchObject({ status: 409, code: 'conflict' });
    });
    // A bounded one stands for nothing that an unbounded one is needed for.
    expect(refusalOf(await other.client.delete(path))).toMatchObject({ status: 409 });
    expect((await other.client.patch(`/v1/api-keys/${bounded}`, { allowed_models: ['b'] })).status).toBe(200);
    expect((await other.client.delete(`/v1/api-keys/${bounded}`)).status).toBe(204);
  });

  it('stays when two keys with all scopes are deleted at the same time', async () => {
    const first = await other.client.createKey(full({ name: 'first' }));
    const { id } = (await other.client.listAll('/v1/api-keys')).find(({ name }) => name === 'second') ?? {};
    const answers = await Promise.all(
      [first.id, String(id)].map((each) => admin.as(first.key).delete(`/v1/api-keys/${each}`)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 204)).toHaveLength(1);
  });
});
