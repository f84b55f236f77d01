import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { generateApiKey } from '../src/api-keys/api-key-format.js';
import { ApiKeyStore } from '../src/api-keys/api-key.store.js';
import { readArray, readNumber, readObject, readString } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { onRedis } from './support/services.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { addTenant, type Tenant } from './support/tenants.js';

/** A revocation must take effect on every replica within ten seconds. */
const REVOCATION_MS = 10_000;
const INVALID = { status: 401, code: 'api_key_invalid', param: null, source: 'gateway' };
const RERANK = { model: 'bm25', query: 'keys', documents: ['keys', 'locks'] };

let gateway: TestApp;
let admin: GatewayClient;
let other: Tenant;
let workspaceId: string;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  other = await addTenant(gateway, 'other');
  workspaceId = await admin.createWorkspace('Search');
});

afterAll(() => gateway.close());

function nowSeconds(): number {
  return Math.floor(gateway.clock.now().getTime() / 1_000);
}

/** Whether the gateway knows the key, whatever the key may do. */
async function isKnown(client: GatewayClient): Promise<boolean> {
  return (await client.get('/v1/api-keys')).status !== 401;
}

/** What a change of the key would change; the time of its last use is written some time after that. */
async function settingsOf(id: string): Promise<object> {
  return { ...(await admin.read(`/v1/api-keys/${id}`)), last_used_at: undefined };
}

function detailOf(answer: Answer): unknown {
  return readObject(jsonOf(answer)['error'], 'body.error')['message'];
}

async function ask(client: GatewayClient, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return client.post('/v1/rerank', RERANK, { 'x-gateway-virtual-key': 'local', ...headers });
}

describe('creating a key', () => {
  const VALID = { name: 'reader', scopes: ['api_keys.read'], level: 'organisation' };

  it('shows a new API key once and never again', async () => {
    const { id, key, client } = await admin.createKey(VALID);
    expect(await isKnown(client)).toBe(true);
    const [read, list] = [await admin.get(`/v1/api-keys/${id}`), await admin.get('/v1/api-keys?page_size=100')];
    expect(read.status).toBe(200);
    expect(read.text + list.text).not.toContain(key.slice(-49));
    expect(list.text).toContain(id);
  });

  it('stores neither the API key nor a plain hash of it', async () => {
    const { key } = await admin.createKey(VALID);
    const rows: unknown = await gateway.dataSource.query(
      `SELECT *, encode("hash", 'hex') AS "hex" FROM "api_key_secrets" JOIN "api_keys" ON "id" = "api_key_id"`,
    );
    expect(JSON.stringify(rows)).not.toContain(key.slice(-49));
    const digest: unknown = await gateway.dataSource.query(
      'SELECT count(*)::int AS "count" FROM "api_key_secrets" WHERE "hash" = sha256($1::bytea)',
      [Buffer.from(key)],
    );
    expect(digest).toEqual([{ count: 0 }]);
  });

  it('returns the fields that the create request of an API key named', async () => {
    const user = { user_id: 'u-42', email: 'ada@example.com', claims: { groups: ['search'] } };
    const fields = {
      ...VALID,
      type: 'user',
      user,
      metadata: { team: 'search' },
      expires_at: nowSeconds() + 3_600,
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 1_000 }],
    };
    const { id } = await admin.createKey(fields);
    const read = await admin.read(`/v1/api-keys/${id}`);
    expect(read).toMatchObject({ ...fields, id, object: 'api-key', workspace_id: null });
    expect(readNumber(read['created_at'], 'created_at')).toBeGreaterThan(1_700_000_000);
  });

  it('accepts the workspace of a new API key by id or by slug', async () => {
    const byId = await admin.createKey({ ...VALID, level: 'workspace', workspace_id: workspaceId });
    const bySlug = await admin.createKey({ ...VALID, level: undefined, workspace_id: 'search' });
    for (const { id } of [byId, bySlug]) {
      expect(await admin.read(`/v1/api-keys/${id}`)).toMatchObject({ level: 'workspace', workspace_id: workspaceId });
    }
  });

  it.each([
    ['name', undefined],
    ['name', ''],
    ['name', 'x'.repeat(256)],
    ['name', 'nul\0'],
    ['scopes', undefined],
    ['scopes', []],
    ['scopes', ['everything']],
    ['scopes', ['api_keys.read', 'api_keys.read']],
    ['scopes', 'api_keys.read'],
    ['level', 'galaxy'],
    ['type', 'robot'],
    ['user', { user_id: 'u-1' }],
    ['workspace_id', 'search'],
    ['expires_at', 0],
    ['expires_at', 'tomorrow'],
    ['expires_at', 253_402_300_800],
    ['metadata', { team: 1 }],
    ['rate_limits', [{}, {}, {}, {}, {}]],
    ['rate_limits', [1, 2].map((value) => ({ type: 'requests', unit: 'rpm', value }))],
    ['rate_limits.0.unit', undefined],
    ['scope', ['api_keys.read']],
  ])('names the field in the refusal of a new API key when %s is %j', async (param, value) => {
    const change =
      param === 'rate_limits.0.unit'
        ? { rate_limits: [{ type: 'requests', unit: 'rpy', value: 1 }] }
        : { [param]: value };
    const answer = await admin.post('/v1/api-keys', { ...VALID, ...change });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
  });

  it.each([
    [{ type: 'user' }, 'user'],
    [{ type: 'user', user: { email: 'ada@example.com' } }, 'user.user_id'],
    [{ level: 'workspace' }, 'workspace_id'],
    [{ level: undefined }, 'workspace_id'],
  ])('refuses a new API key when %j leaves a field out', async (change, param) => {
    const answer = await admin.post('/v1/api-keys', { ...VALID, ...change });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param });
  });

  it.each([() => 'nowhere', () => other.workspaceId])(
    'refuses a new API key for an unknown workspace and for a foreign one alike',
    async (workspace) => {
      const answer = await admin.post('/v1/api-keys', { ...VALID, level: 'workspace', workspace_id: workspace() });
      expect(refusalOf(answer)).toEqual({
        status: 403,
        code: 'tenant_mismatch',
        param: 'workspace_id',
        source: 'gateway',
      });
    },
  );
});

describe('changing a key', () => {
  it('changes only the named fields of an API key, with PATCH and PUT alike', async () => {
    const { id } = await admin.createKey({ name: 'before', scopes: ['workspaces.read'], metadata: { team: 'search' } });
    expect((await admin.patch(`/v1/api-keys/${id}`, { name: 'patched' })).status).toBe(200);
    const answer = await admin.put(`/v1/api-keys/${id}`, { expires_at: nowSeconds() + 60 });
    expect(jsonOf(answer)).toMatchObject({
      name: 'patched',
      scopes: ['workspaces.read'],
      metadata: { team: 'search' },
    });
    expect(jsonOf(await admin.patch(`/v1/api-keys/${id}`, { expires_at: null }))).toMatchObject({ expires_at: null });
  });

  it('applies a change of an API key to the next request', async () => {
    const { id, client } = await admin.createKey({ scopes: ['api_keys.list'] });
    expect((await client.get('/v1/api-keys')).status).toBe(200);
    await admin.patch(`/v1/api-keys/${id}`, { scopes: ['workspaces.list'] });
    expect((await client.get('/v1/api-keys')).status).toBe(403);
    expect((await client.get('/v1/workspaces')).status).toBe(200);
  });

  it.each(['type', 'level', 'workspace_id', 'user', 'key', 'id'])(
    'does not let an update change %s of an API key',
    async (field) => {
      const { id } = await admin.createKey({ scopes: ['workspaces.read'] });
      const answer = await admin.patch(`/v1/api-keys/${id}`, { [field]: 'workspace' });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: field });
    },
  );

  it('keeps every one of several concurrent changes of an API key', async () => {
    const { id } = await admin.createKey({ name: 'before', scopes: ['workspaces.read'] });
    await Promise.all([
      admin.patch(`/v1/api-keys/${id}`, { name: 'after' }),
      admin.patch(`/v1/api-keys/${id}`, { metadata: { team: 'search' } }),
      admin.patch(`/v1/api-keys/${id}`, { scopes: ['workspaces.list'] }),
    ]);
    expect(await admin.read(`/v1/api-keys/${id}`)).toMatchObject({
      name: 'after',
      metadata: { team: 'search' },
      scopes: ['workspaces.list'],
    });
  });
});

describe('rotating a key', () => {
  async function rotate(
    id: string,
    body?: object,
  ): Promise<{ readonly client: GatewayClient; readonly until: number }> {
    const answer = await admin.post(`/v1/api-keys/${id}/rotate`, body);
    expect(answer.status).toBe(200);
    const { key, previous_valid_until: until } = jsonOf(answer);
    return { client: admin.as(readString(key, 'key')), until: readNumber(until, 'previous_valid_until') };
  }

  it('accepts both secrets of a rotated key until the transition ends, then only the new one', async () => {
    const { id, client: before } = await admin.createKey({ scopes: ['api_keys.read'] });
    const asked = nowSeconds();
    const { client: after, until } = await rotate(id, { transition_seconds: 600 });
    expect([await isKnown(before), await isKnown(after)]).toEqual([true, true]);
    expect(until).toBeGreaterThanOrEqual(asked + 600);
    expect(until).toBeLessThanOrEqual(nowSeconds() + 600);
    gateway.clock.advance(560_000);
    expect([await isKnown(before), await isKnown(after)]).toEqual([true, true]);
    gateway.clock.advance(41_000);
    expect([await isKnown(before), await isKnown(after)]).toEqual([false, true]);
    expect(refusalOf(await before.get('/v1/api-keys'))).toEqual(INVALID);
  });

  it('gives a rotated secret half an hour when the request names no transition', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    const asked = nowSeconds();
    const { until } = await rotate(id);
    expect(until).toBeGreaterThanOrEqual(asked + 1_800);
    expect(until).toBeLessThanOrEqual(nowSeconds() + 1_800);
  });

  it('ends the old secret at once with a transition of 0', async () => {
    const { id, client: before } = await admin.createKey({ scopes: ['api_keys.read'] });
    expect(await isKnown(before)).toBe(true);
    const { client: after } = await rotate(id, { transition_seconds: 0 });
    expect([await isKnown(before), await isKnown(after)]).toEqual([false, true]);
  });

  it('ends a secret that an earlier rotation left more time together with the others', async () => {
    const { id, client: first } = await admin.createKey({ scopes: ['api_keys.read'] });
    const { client: second } = await rotate(id, { transition_seconds: 3_600 });
    const { client: third } = await rotate(id, { transition_seconds: 0 });
    expect([await isKnown(first), await isKnown(second), await isKnown(third)]).toEqual([false, false, true]);
  });

  it('leaves one lasting secret after several concurrent rotations', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    await Promise.all(Array.from({ length: 4 }, () => rotate(id)));
    const lasting: unknown = await gateway.dataSource.query(
      'SELECT count(*)::int AS "count" FROM "api_key_secrets" WHERE "api_key_id" = $1 AND "valid_until" IS NULL',
      [id],
    );
    expect(lasting).toEqual([{ count: 1 }]);
  });

  it('deletes secrets that ended long ago', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    const count = async (): Promise<unknown> =>
      gateway.dataSource.query('SELECT count(*)::int AS "count" FROM "api_key_secrets" WHERE "api_key_id" = $1', [id]);
    await rotate(id, { transition_seconds: 0 });
    const { client } = await rotate(id, { transition_seconds: 0 });
    expect(await count()).toEqual([{ count: 3 }]);
    gateway.clock.advance(86_401_000);
    const { client: last } = await rotate(id, { transition_seconds: 3_600 });
    expect(await count()).toEqual([{ count: 2 }]);
    expect([await isKnown(client), await isKnown(last)]).toEqual([true, true]);
  });

  it('keeps the id, the scopes and the expiry of a rotated key', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'], expires_at: nowSeconds() + 60 });
    const before = await admin.read(`/v1/api-keys/${id}`);
    const { client } = await rotate(id);
    const { prefix, updated_at: at } = await admin.read(`/v1/api-keys/${id}`);
    expect(prefix).not.toBe(before['prefix']);
    expect(await admin.read(`/v1/api-keys/${id}`)).toEqual({ ...before, prefix, updated_at: at });
    gateway.clock.advance(61_000);
    expect(await isKnown(client)).toBe(false);
  });

  it('gives the old secret no more time than the key itself has', async () => {
    const end = nowSeconds() + 100;
    const { id, client: before } = await admin.createKey({ scopes: ['api_keys.read'], expires_at: end });
    expect((await rotate(id)).until).toBe(end);
    // The requested transition applies again when the key lives longer.
    await admin.patch(`/v1/api-keys/${id}`, { expires_at: end + 3_600 });
    gateway.clock.advance(200_000);
    expect(await isKnown(before)).toBe(true);
    expect((await rotate(id, { transition_seconds: 0 })).until).toBeLessThanOrEqual(nowSeconds());
  });

  it('refuses to rotate an expired key until its expiry is extended', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'], expires_at: nowSeconds() + 60 });
    gateway.clock.advance(61_000);
    const answer = await admin.post(`/v1/api-keys/${id}/rotate`, {});
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(1);
    await admin.patch(`/v1/api-keys/${id}`, { expires_at: nowSeconds() + 60 });
    expect(await isKnown((await rotate(id)).client)).toBe(true);
  });

  it.each([-1, 30 * 86_400 + 1, 1.5, '60', null])('refuses a transition of %j in a rotation', async (seconds) => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    const answer = await admin.post(`/v1/api-keys/${id}/rotate`, { transition_seconds: seconds });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'transition_seconds' });
  });
});

describe('a key that is not valid', () => {
  it('returns the same refusal for every reason that makes a key invalid', async () => {
    const expired = await admin.createKey({ scopes: ['api_keys.list'], expires_at: nowSeconds() + 60 });
    expect(await isKnown(expired.client)).toBe(true);
    gateway.clock.advance(61_000);
    const revoked = await admin.createKey({ scopes: ['api_keys.list'] });
    expect(await isKnown(revoked.client)).toBe(true);
    expect((await admin.delete(`/v1/api-keys/${revoked.id}`)).status).toBe(204);
    const { key } = await admin.createKey({ scopes: ['api_keys.list'] });
    const [first = '', ...others] = await Promise.all(
      [
        new GatewayClient(gateway.url, {}),
        admin.as('junk'),
        admin.as(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`),
        admin.as(generateApiKey()),
        expired.client,
        revoked.client,
        new GatewayClient(gateway.url, { authorization: 'Basic YWRtaW46YWRtaW4=' }),
        new GatewayClient(gateway.url, { authorization: 'Bearer tg_junk' }),
      ].map(async (client) => {
        const answer = await client.get('/v1/api-keys');
        expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
        return `${answer.status} ${answer.text}`;
      }),
    );
    expect(first).toMatch(/^401 .*"api_key_invalid"/);
    for (const answer of others) expect(answer).toBe(first);
  });

  it('logs why a key is invalid, but not the key', async () => {
    const unknown = generateApiKey();
    await admin.as(unknown).get('/v1/api-keys');
    expect(gateway.log()).toContain('"error_reason":"unknown"');
    expect(gateway.log()).not.toContain(unknown.slice(-49));
  });

  it('refuses a key that has a known public id and another secret', async () => {
    const { key } = await admin.createKey({ scopes: ['api_keys.list'] });
    const hashOfOther = (await admin.createKey({ scopes: ['api_keys.list'] })).key.slice(3, 11);
    await gateway.dataSource.query(
      `UPDATE "api_key_secrets" SET "hash" = (SELECT "hash" FROM "api_key_secrets" WHERE "public_id" = $1)
       WHERE "public_id" = $2`,
      [hashOfOther, key.slice(3, 11)],
    );
    expect(refusalOf(await admin.as(key).get('/v1/api-keys'))).toEqual(INVALID);
    expect(gateway.log()).toContain('"error_reason":"wrong_secret"');
  });
});

describe('a revoked key', () => {
  it('refuses a revoked key at once on this replica and soon on the others', async () => {
    const replica = await startTestApp({}, true);
    const { id, key, client } = await admin.createKey({ scopes: ['api_keys.list'] });
    const elsewhere = new GatewayClient(replica.url).as(key);
    expect([await isKnown(client), await isKnown(elsewhere)]).toEqual([true, true]);
    await admin.delete(`/v1/api-keys/${id}`);
    expect(await isKnown(client)).toBe(false);
    await eventually(async () => !(await isKnown(elsewhere)), REVOCATION_MS);
    expect(refusalOf(await admin.get(`/v1/api-keys/${id}`))).toMatchObject({ status: 404, code: 'not_found' });
    await replica.close();
  });

  it('serves a request whose key is being looked up while another key is deleted', async () => {
    const store = gateway.app.get(ApiKeyStore, { strict: false });
    const { client: waiting } = await admin.createKey({ scopes: ['api_keys.list'] });
    const { id } = await admin.createKey({ scopes: ['api_keys.list'] });
    const { client: deleting } = await admin.createKey({ scopes: ['api_keys.delete', 'api_keys.list'] });
    expect(await isKnown(deleting)).toBe(true);
    const find = store.find.bind(store);
    let asked = false;
    let goOn: () => void = () => undefined;
    const paused = new Promise<void>((resume) => (goOn = resume));
    const spy = jest.spyOn(store, 'find').mockImplementation(async (key) => {
      asked = true;
      await paused;
      return find(key);
    });
    const answer = waiting.get('/v1/api-keys');
    await eventually(() => asked);
    expect((await deleting.delete(`/v1/api-keys/${id}`)).status).toBe(204);
    goOn();
    expect((await answer).status).toBe(200);
    spy.mockRestore();
  });
});

describe('a caller', () => {
  it('accepts the key in each of the headers that clients use', async () => {
    const { key } = await admin.createKey({ scopes: ['api_keys.list'] });
    const ways: readonly Readonly<Record<string, string>>[] = [
      { 'x-gateway-api-key': key },
      { 'x-portkey-api-key': key },
      { authorization: `Bearer ${key}` },
      { 'x-gateway-api-key': key, authorization: 'Bearer of-something-else' },
      { 'x-gateway-api-key': key, 'x-portkey-api-key': 'junk' },
    ];
    for (const credentials of ways) {
      expect((await new GatewayClient(gateway.url, credentials).get('/v1/api-keys')).status).toBe(200);
    }
  });

  it('accepts all documented names of the headers', async () => {
    const { key } = await admin.createKey({ scopes: ['completions.write'] });
    const client = new GatewayClient(gateway.url, { 'x-portkey-api-key': key });
    const answer = await client.post('/v1/rerank', RERANK, {
      'x-portkey-virtual-key': 'local',
      'x-portkey-trace-id': 'their-trace',
      'x-portkey-metadata': '{"team":"search"}',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-gateway-trace-id']).toBe('their-trace');
    await eventually(() => gateway.log().includes('their-trace'));
  });

  it('keeps metadata that the key enforces, and lets the caller change metadata that the workspace suggests', async () => {
    const workspace = await admin.create('/v1/workspaces', {
      name: 'Metadata',
      defaults: { metadata: { team: 'default', cost_centre: 'default', region: 'default' } },
    });
    const { client } = await admin.createKey({
      level: 'workspace',
      workspace_id: workspace['id'],
      scopes: ['completions.write', 'virtual_keys.create'],
      metadata: { team: 'enforced' },
    });
    await client.create('/v1/virtual-keys', { name: 'local', provider: 'local' });
    const metadata = JSON.stringify({ team: 'mine', region: 'mine', extra: 'mine' });
    const answer = await ask(client, { 'x-gateway-metadata': metadata, 'x-gateway-trace-id': 'metadata-trace' });
    expect(answer.status).toBe(200);
    await eventually(() => gateway.log().includes('"metadata-trace"'));
    const line =
      gateway
        .log()
        .split('\n')
        .find((text) => text.includes('"metadata-trace"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      metadata: { team: 'enforced', cost_centre: 'default', region: 'mine', extra: 'mine' },
    });
  });
});

describe('handing on permissions', () => {
  const HELD = ['api_keys.create', 'api_keys.update', 'api_keys.read'];
  const ESCALATION = { status: 403, code: 'permission_denied', param: 'scopes', source: 'gateway' };
  let limited: GatewayClient;

  beforeAll(async () => {
    limited = (await admin.createKey({ scopes: HELD })).client;
  });

  it('lets a caller hand on the permissions that it has', async () => {
    const { client } = await limited.createKey({ scopes: ['api_keys.read'] });
    expect(await isKnown(client)).toBe(true);
  });

  it.each(SCOPES.filter((scope) => !HELD.includes(scope)))(
    'refuses to hand on %s, which the caller lacks',
    async (scope) => {
      const body = { name: 'more', level: 'organisation', scopes: ['api_keys.read', scope] };
      expect(refusalOf(await limited.post('/v1/api-keys', body))).toEqual(ESCALATION);
    },
  );

  it('refuses a caller who gives its own key a permission that it lacks', async () => {
    const { id, client } = await admin.createKey({ scopes: HELD });
    const answer = await client.patch(`/v1/api-keys/${id}`, { scopes: [...HELD, 'workspaces.delete'] });
    expect(refusalOf(answer)).toEqual(ESCALATION);
    expect(await admin.read(`/v1/api-keys/${id}`)).toMatchObject({ scopes: HELD });
  });

  it('refuses a caller who changes or rotates a key that can do more than its own', async () => {
    const { id, client } = await admin.createKey({ scopes: ['workspaces.delete'] });
    for (const answer of [
      await limited.patch(`/v1/api-keys/${id}`, { name: 'mine now' }),
      await limited.patch(`/v1/api-keys/${id}`, { expires_at: null }),
      await limited.post(`/v1/api-keys/${id}/rotate`, {}),
    ]) {
      expect(refusalOf(answer)).toEqual(ESCALATION);
      expect(answer.text).not.toContain('tg_');
    }
    expect(await isKnown(client)).toBe(true);
  });
});

describe('a key with bounds', () => {
  const SCOPES_HELD = ['api_keys.create', 'api_keys.update', 'api_keys.read', 'api_keys.list'] as const;
  const PER_DAY = { type: 'requests', unit: 'rpd', value: 1_000 };
  const PER_MINUTE = { type: 'requests', unit: 'rpm', value: 500 };
  let bounds: { readonly metadata: object; readonly expires_at: number; readonly rate_limits: readonly object[] };
  let own: { readonly id: string; readonly client: GatewayClient };

  beforeAll(async () => {
    bounds = {
      metadata: { team: 'search', stage: 'test' },
      expires_at: nowSeconds() + 86_400,
      rate_limits: [PER_DAY, PER_MINUTE],
    };
    own = await admin.createKey({ scopes: SCOPES_HELD, ...bounds });
  });

  function beyond(param: string) {
    return { status: 403, code: 'permission_denied', param, source: 'gateway' };
  }

  const WIDER: readonly (readonly [string, () => object])[] = [
    ['expires_at', () => ({ expires_at: null })],
    ['expires_at', () => ({ expires_at: bounds.expires_at + 1 })],
    ['metadata.team', () => ({ metadata: {} })],
    ['metadata.stage', () => ({ metadata: { team: 'search' } })],
    ['metadata.team', () => ({ metadata: { team: 'sales', stage: 'test' } })],
    ['rate_limits', () => ({ rate_limits: [] })],
    ['rate_limits', () => ({ rate_limits: [PER_DAY] })],
    ['rate_limits', () => ({ rate_limits: [PER_DAY, { ...PER_MINUTE, value: 501 }] })],
  ];

  it('lets a key with bounds make keys within them, as wide or narrower', async () => {
    await own.client.createKey({ scopes: ['api_keys.read'], ...bounds });
    const { id } = await own.client.createKey({
      scopes: ['api_keys.read'],
      metadata: { team: 'search', stage: 'test', app: 'web' },
      expires_at: bounds.expires_at - 60,
      rate_limits: [{ type: 'requests', unit: 'rps', value: 9_000 }, { ...PER_MINUTE, value: 499 }, PER_DAY],
    });
    expect((await own.client.patch(`/v1/api-keys/${id}`, { expires_at: bounds.expires_at })).status).toBe(200);
  });

  it.each(WIDER)('refuses a new key beyond the bounds of its maker: %s', async (param, change) => {
    const body = { name: 'wider', level: 'organisation', scopes: ['api_keys.read'], ...bounds, ...change() };
    expect(refusalOf(await own.client.post('/v1/api-keys', body))).toEqual(beyond(param));
  });

  it('refuses a new key that leaves out the bounds of its maker', async () => {
    const { expires_at, metadata, rate_limits } = bounds;
    const body = { name: 'wider', level: 'organisation', scopes: ['api_keys.read'] };
    for (const [param, given] of [
      ['expires_at', { metadata, rate_limits }],
      ['metadata.team', { expires_at, rate_limits }],
      ['rate_limits', { expires_at, metadata }],
    ] as const) {
      expect(refusalOf(await own.client.post('/v1/api-keys', { ...body, ...given }))).toEqual(beyond(param));
    }
  });

  it.each(WIDER)('refuses a key that takes off its own bounds: %s', async (param, change) => {
    const before = await settingsOf(own.id);
    expect(refusalOf(await own.client.patch(`/v1/api-keys/${own.id}`, change()))).toEqual(beyond(param));
    expect(await settingsOf(own.id)).toEqual(before);
  });

  it.each(WIDER)('refuses a key with bounds that takes them off another key: %s', async (param, change) => {
    const { id } = await own.client.createKey({ scopes: ['api_keys.read'], ...bounds });
    expect(refusalOf(await own.client.put(`/v1/api-keys/${id}`, change()))).toEqual(beyond(param));
  });

  it('refuses a key with bounds that extends or rotates a key without them', async () => {
    const { id, client } = await admin.createKey({ scopes: ['api_keys.read'] });
    const before = await settingsOf(id);
    for (const answer of [
      await own.client.patch(`/v1/api-keys/${id}`, { scopes: ['api_keys.read', 'api_keys.list'] }),
      await own.client.patch(`/v1/api-keys/${id}`, { metadata: bounds.metadata, rate_limits: bounds.rate_limits }),
      await own.client.post(`/v1/api-keys/${id}/rotate`, {}),
    ]) {
      expect(refusalOf(answer)).toEqual(beyond('expires_at'));
      expect(answer.text).not.toContain('tg_');
    }
    expect(await settingsOf(id)).toEqual(before);
    expect(await isKnown(client)).toBe(true);
  });

  it('lets a key with bounds rename a key without them, and set the bounds on it', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    expect((await own.client.patch(`/v1/api-keys/${id}`, { name: 'renamed' })).status).toBe(200);
    expect((await own.client.patch(`/v1/api-keys/${id}`, bounds)).status).toBe(200);
  });

  it('lets a key with bounds rotate itself', async () => {
    const { id, client } = await admin.createKey({ scopes: SCOPES_HELD, ...bounds });
    const { key } = jsonOf(await client.post(`/v1/api-keys/${id}/rotate`, {}));
    expect(await isKnown(admin.as(readString(key, 'key')))).toBe(true);
  });
});

describe('a key of one workspace', () => {
  let inside: GatewayClient;
  let outsideKeyId: string;
  let secondWorkspace: string;

  beforeAll(async () => {
    inside = (await admin.createKey({ level: 'workspace', workspace_id: workspaceId, scopes: [...SCOPES] })).client;
    outsideKeyId = (await admin.createKey({ scopes: ['api_keys.read'] })).id;
    secondWorkspace = await admin.createWorkspace('Second');
  });

  it('lets a key of one workspace make keys there without naming the workspace', async () => {
    const { id } = await inside.createKey({ level: undefined, scopes: ['api_keys.read'] });
    expect(await admin.read(`/v1/api-keys/${id}`)).toMatchObject({ workspace_id: workspaceId });
  });

  it('refuses a key of one workspace that makes keys of the organisation', async () => {
    const answer = await inside.post('/v1/api-keys', { name: 'k', scopes: ['api_keys.read'], level: 'organisation' });
    expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'permission_denied', param: 'level' });
  });

  it.each(['/v1/api-keys', '/v1/virtual-keys'])(
    'refuses a key of one workspace that makes anything in another workspace: %s',
    async (path) => {
      const body = { name: 'k', scopes: ['api_keys.read'], provider: 'local' };
      const { scopes, provider, name } = body;
      const fields = path === '/v1/api-keys' ? { name, scopes } : { name, provider };
      for (const workspace of [secondWorkspace, 'second', other.workspaceId]) {
        const answer = await inside.post(path, { ...fields, workspace_id: workspace });
        expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'tenant_mismatch', param: 'workspace_id' });
      }
    },
  );

  it('lists only the keys of its own workspace to a key of one workspace', async () => {
    const seen = await inside.list('/v1/api-keys?page_size=100');
    expect(new Set(seen.map((key) => key['workspace_id']))).toEqual(new Set([workspaceId]));
    expect((await inside.list('/v1/workspaces')).map((workspace) => workspace['id'])).toEqual([workspaceId]);
    expect((await inside.list('/v1/audit-logs')).every((entry) => entry['workspace_id'] === workspaceId)).toBe(true);
  });

  it('returns 404 to a key of one workspace for keys of the organisation and of other workspaces', async () => {
    for (const answer of [
      await inside.get(`/v1/api-keys/${outsideKeyId}`),
      await inside.patch(`/v1/api-keys/${outsideKeyId}`, { name: 'mine' }),
      await inside.post(`/v1/api-keys/${outsideKeyId}/rotate`, {}),
      await inside.delete(`/v1/api-keys/${outsideKeyId}`),
      await inside.get(`/v1/workspaces/${secondWorkspace}`),
      await inside.patch('/v1/workspaces/second', { name: 'mine' }),
    ]) {
      expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  it('lets a key of one workspace change that workspace, and neither make nor delete one', async () => {
    expect((await inside.patch('/v1/workspaces/search', { description: 'ours' })).status).toBe(200);
    const denied = { status: 403, code: 'permission_denied' };
    expect(refusalOf(await inside.post('/v1/workspaces', { name: 'Third' }))).toMatchObject(denied);
    expect(refusalOf(await inside.delete(`/v1/workspaces/${workspaceId}`))).toMatchObject(denied);
  });
});

describe('a workspace', () => {
  it('refuses to delete a workspace while it has keys, and deletes it when they are gone', async () => {
    const workspace = await admin.createWorkspace('Short-lived');
    const { id } = await admin.createKey({ level: 'workspace', workspace_id: workspace, scopes: ['api_keys.read'] });
    expect(refusalOf(await admin.delete(`/v1/workspaces/${workspace}`))).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    await admin.delete(`/v1/api-keys/${id}`);
    expect((await admin.delete(`/v1/workspaces/${workspace}`)).status).toBe(204);
    expect((await admin.get(`/v1/workspaces/${workspace}`)).status).toBe(404);
  });

  it('makes the slug of a workspace from its name, another one when it is taken, and refuses a requested slug that is taken', async () => {
    const first = await admin.create('/v1/workspaces', { name: 'Twice Named' });
    const second = await admin.create('/v1/workspaces', { name: 'Twice Named' });
    expect(first).toMatchObject({ slug: 'twice-named', object: 'workspace' });
    expect(second['slug']).toMatch(/^twice-named-[0-9a-f]{6}$/);
    const answer = await admin.post('/v1/workspaces', { name: 'Other', slug: 'twice-named' });
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict', param: 'slug' });
    expect((await other.client.create('/v1/workspaces', { name: 'Other', slug: 'twice-named' }))['slug']).toBe(
      'twice-named',
    );
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'x', slug: 'a b' }, 'slug'],
    [{ name: 'x', defaults: { metadata: { a: 1 } } }, 'defaults.metadata'],
    [{ name: 'x', defaults: { colour: 'blue' } }, 'defaults.colour'],
    [{ name: 'x', description: 1 }, 'description'],
    [{ name: 'x', owner: 'me' }, 'owner'],
  ])('names the field in the refusal of a workspace: %j', async (body, param) => {
    expect(refusalOf(await admin.post('/v1/workspaces', body))).toMatchObject({ status: 400, param });
  });
});

describe('rate limits', () => {
  const PER_HOUR = { type: 'requests', unit: 'rph', value: 3 };

  it('returns 429 with the time to wait once a rate limit is used up, and serves other keys', async () => {
    const { client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_HOUR] });
    for (let count = 0; count < PER_HOUR.value; count += 1) expect((await client.get('/v1/api-keys')).status).toBe(200);
    const answer = await client.get('/v1/api-keys');
    expect(refusalOf(answer)).toEqual({ status: 429, code: 'rate_limited', param: null, source: 'gateway' });
    const retryAfter = Number(answer.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
    expect((await admin.get('/v1/api-keys')).status).toBe(200);
  });

  it('admits no more concurrent requests than a rate limit allows', async () => {
    const { client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_HOUR] });
    const answers = await Promise.all(Array.from({ length: 12 }, () => client.get('/v1/api-keys')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_HOUR.value);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12 - PER_HOUR.value);
  });

  it('admits requests again when the window of a rate limit is over', async () => {
    const perSecond = { type: 'requests', unit: 'rps', value: 1 };
    const { client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [perSecond] });
    const answers = await Promise.all(Array.from({ length: 3 }, () => client.get('/v1/api-keys')));
    // A wait of one second is worth a retry, so no header forbids it.
    for (const { headers } of answers) expect(headers['x-should-retry']).toBeUndefined();
    await eventually(async () => (await client.get('/v1/api-keys')).status === 200, 3_000);
  });

  it('applies the tightest of several rate limits', async () => {
    const rates = [
      { type: 'requests', unit: 'rpd', value: 100 },
      { ...PER_HOUR, value: 1 },
    ];
    const { client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: rates });
    expect([(await client.get('/v1/api-keys')).status, (await client.get('/v1/api-keys')).status]).toEqual([200, 429]);
  });

  describe('that change while they run', () => {
    const PER_DAY = { type: 'requests', unit: 'rpd', value: 3 };

    async function statusesOf(client: GatewayClient, count: number): Promise<readonly number[]> {
      const answers = await Promise.all(Array.from({ length: count }, () => client.get('/v1/api-keys')));
      return answers.map(({ status }) => status).sort((one, other) => one - other);
    }

    async function change(id: string, value: number): Promise<void> {
      const answer = await admin.patch(`/v1/api-keys/${id}`, { rate_limits: [{ ...PER_DAY, value }] });
      expect(answer.status).toBe(200);
    }

    it('admits no more requests in the window after a rate limit is lowered', async () => {
      const { id, client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_DAY] });
      expect(await statusesOf(client, 3)).toEqual([200, 200, 200]);
      await change(id, 2);
      const refused = await client.get('/v1/api-keys');
      expect(refusalOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(86_400);
      // SDKs would sleep until then.
      expect(refused.headers['x-should-retry']).toBe('false');
    });

    it('admits the difference after a rate limit is raised, however many requests were refused before', async () => {
      const { id, client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_DAY] });
      expect(await statusesOf(client, 12)).toEqual([200, 200, 200, ...Array<number>(9).fill(429)]);
      await change(id, 5);
      expect(await statusesOf(client, 4)).toEqual([200, 200, 429, 429]);
      await change(id, 3);
      expect(await statusesOf(client, 1)).toEqual([429]);
    });

    it('does not count a request on one rate limit when another limit of the key refuses it', async () => {
      const rates = [
        { ...PER_DAY, value: 4 },
        { ...PER_HOUR, value: 2 },
      ];
      const { id, client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: rates });
      expect(await statusesOf(client, 8)).toEqual([200, 200, ...Array<number>(6).fill(429)]);
      await change(id, 4);
      expect(await statusesOf(client, 3)).toEqual([200, 200, 429]);
    });
  });

  it('refuses requests of keys with rate limits while Redis does not answer, and serves keys without limits', async () => {
    const { key } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_HOUR] });
    const replica = await startTestApp({ REDIS_URL: 'redis://127.0.0.1:1' }, true);
    const elsewhere = new GatewayClient(replica.url);
    expect(refusalOf(await elsewhere.as(key).get('/v1/api-keys'))).toMatchObject({
      status: 503,
      code: 'store_unavailable',
    });
    expect((await elsewhere.get('/v1/api-keys')).status).toBe(200);
    await replica.close();
  });

  onRedis('with Redis (needs REDIS_URL)', () => {
    it('counts rate limits across all replicas', async () => {
      const replica = await startTestApp({}, true);
      const { key, client } = await admin.createKey({ scopes: ['api_keys.list'], rate_limits: [PER_HOUR] });
      const elsewhere = new GatewayClient(replica.url).as(key);
      const statuses: number[] = [];
      for (const caller of [client, elsewhere, client, elsewhere, client]) {
        statuses.push((await caller.get('/v1/api-keys')).status);
      }
      expect(statuses).toEqual([200, 200, 200, 429, 429]);
      await replica.close();
    });
  });
});

describe('the audit log', () => {
  it('records in the audit log who did what to which key, and never the key', async () => {
    const { id, key } = await admin.createKey({ name: 'audited', scopes: ['api_keys.read'], metadata: { a: 'v-1' } });
    await admin.patch(`/v1/api-keys/${id}`, { name: 'renamed', metadata: { a: 'v-2' }, expires_at: null });
    await admin.post(`/v1/api-keys/${id}/rotate`, {});
    await admin.delete(`/v1/api-keys/${id}`);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual([
      'api_keys.delete',
      'api_keys.rotate',
      'api_keys.update',
      'api_keys.create',
    ]);
    const [, , update] = entries;
    expect(new Set(readArray(update?.['changed_fields'], 'changed_fields'))).toEqual(
      new Set(['name', 'metadata', 'expires_at']),
    );
    expect(update).toMatchObject({ actor_type: 'api_key', resource_type: 'api-key', workspace_id: null });
    expect(JSON.stringify(entries)).not.toContain(key);
  });

  it('writes no audit entry for a refused change', async () => {
    const { id } = await admin.createKey({ scopes: ['api_keys.read'] });
    await admin.patch(`/v1/api-keys/${id}`, { scopes: ['nonsense'] });
    await other.client.delete(`/v1/api-keys/${id}`);
    expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(1);
  });

  it('searches the audit log, and shows no entry of another organisation', async () => {
    await other.client.createKey({ scopes: ['api_keys.read'] });
    const ours = await admin.list('/v1/audit-logs?action=api_keys.create&page_size=100');
    expect(ours.every((entry) => entry['action'] === 'api_keys.create')).toBe(true);
    const theirs = await other.client.list('/v1/audit-logs');
    const ids = new Set(ours.map((entry) => entry['id']));
    expect(theirs.some((entry) => ids.has(entry['id']))).toBe(false);
    const actor = String(theirs[0]?.['actor_id']);
    expect(await other.client.list(`/v1/audit-logs?actor=${actor.toUpperCase()}`)).toContainEqual(theirs[0]);
    const tomorrow = nowSeconds() + 86_400;
    expect(await admin.list(`/v1/audit-logs?from=${tomorrow}`)).toEqual([]);
    expect(await admin.list('/v1/audit-logs?to=0')).toEqual([]);
    const [last] = await admin.list('/v1/audit-logs?page_size=1');
    const second = Number(last?.['created_at']);
    expect(await admin.list(`/v1/audit-logs?from=${second}&to=${second}`)).toContainEqual(last);
    expect(await admin.list(`/v1/audit-logs?to=${second}&page_size=1`)).toEqual([last]);
    expect((await admin.get('/v1/audit-logs?to=253402300799')).status).toBe(200);
    const backwards = await admin.get(`/v1/audit-logs?from=${second + 1}&to=${second}`);
    expect(refusalOf(backwards)).toMatchObject({ status: 400, code: 'validation_failed', param: 'from' });
    expect((await admin.list(`/v1/audit-logs?from=0&to=${tomorrow}`)).length).toBeGreaterThan(0);
  });

  it.each(['from=yesterday', 'from=', 'to=%20', 'to=-1', 'resource=junk', 'actor=%00'])(
    'refuses ?%s on the audit log',
    async (query) => {
      expect(refusalOf(await admin.get(`/v1/audit-logs?${query}`))).toMatchObject({
        status: 400,
        param: query.split('=')[0],
      });
    },
  );
});

it('returns the same message for a missing key of the own and of another tenant', async () => {
  const { id } = await other.client.createKey({ scopes: ['api_keys.read'] });
  const foreign = await admin.get(`/v1/api-keys/${id}`);
  const missing = await admin.get(`/v1/api-keys/${crypto.randomUUID()}`);
  expect(foreign.status).toBe(404);
  expect(detailOf(foreign)).toBe(detailOf(missing));
});

describe('an admin key in the settings', () => {
  it.each([
    ['that the database knows', ADMIN_KEY, ''],
    ['that came too late', generateApiKey(), 'TOLLGATE_ADMIN_KEY has no effect'],
  ])('warns about an admin key %s only when it has no effect', async (_what, key, complaint) => {
    const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const replica = await startTestApp({ TOLLGATE_ADMIN_KEY: key }, true);
    const told = written.mock.calls.map(([text]) => String(text)).join('');
    written.mockRestore();
    await replica.close();
    expect(told).toContain(complaint);
    expect(told === '').toBe(complaint === '');
    expect(told).not.toContain(key);
  });
});
