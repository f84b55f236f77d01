import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readObject, readString } from '../src/common/json/read.js';
import { McpServer } from '../src/mcp/servers/mcp-server.entity.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant } from './support/tenants.js';

const SECRET = 'static-secret-0123456789abcdef';
const CLIENT_SECRET = 'introspection-secret-0123456789';
const URL_HERE = 'https://mcp.example.com/mcp';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const VALIDATION = { jwksUri: 'https://idp.example.com/jwks', requiredClaims: ['sub', 'email'] };
const VALID = { name: 'Issue tracker', url: URL_HERE };

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp({ JWT_PRIVATE_KEY: PEM });
  admin = new GatewayClient(gateway.url);
});

afterAll(() => gateway.close());

async function make(fields: object = {}, client = admin): Promise<{ readonly id: string; readonly path: string }> {
  const created = await client.create('/v1/mcp-servers', { ...VALID, ...fields });
  const id = readString(created['id'], 'id');
  return { id, path: `/v1/mcp-servers/${id}` };
}

describe('an MCP server', () => {
  it('makes, reads, lists, changes and deletes an MCP server', async () => {
    const fields = {
      description: 'tickets',
      auth_type: 'headers',
      headers: { 'X-Api-Key': SECRET },
      user_identity_forwarding: { method: 'jwt_header', include_claims: ['sub', 'email'], jwt_expiry_seconds: 60 },
      jwt_validation: VALIDATION,
      forward_headers: { mode: 'all-except', headers: [] },
      allowed_origins: ['https://app.example.com'],
      timeouts: { first_byte_ms: 5_000 },
    };
    const created = await admin.create('/v1/mcp-servers', { ...VALID, ...fields });
    expect(created).toEqual({ id: expect.any(String), slug: 'issue-tracker', object: 'mcp-server' });
    const path = `/v1/mcp-servers/${String(created['id'])}`;
    const whole = { ...created, ...VALID, ...fields, transport: 'streamable_http', enabled: true, workspace_id: null };
    const shown = { ...whole, headers: { 'X-Api-Key': '****cdef' } };
    expect(await admin.read(path)).toMatchObject(shown);
    expect(await admin.read('/v1/mcp-servers/issue-tracker')).toMatchObject(shown);
    expect(await admin.list('/v1/mcp-servers')).toContainEqual(await admin.read(path));
    const changed = await admin.patch(path, { name: 'Renamed', user_identity_forwarding: null, enabled: false });
    expect(jsonOf(changed)).toMatchObject({
      ...shown,
      name: 'Renamed',
      user_identity_forwarding: null,
      enabled: false,
    });
    expect(jsonOf(await admin.put(path, { description: null }))).toMatchObject({ description: null, name: 'Renamed' });
    expect((await admin.delete(path)).status).toBe(204);
    expect(refusalOf(await admin.get(path))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('accepts an MCP server in the form in which it was read', async () => {
    const introspection = {
      endpoint: 'https://idp.example.com/introspect',
      client_id: 'gateway',
      client_secret: CLIENT_SECRET,
    };
    const { id, path } = await make({
      headers: { 'X-Api-Key': SECRET },
      jwt_validation: { ...VALIDATION, introspection },
    });
    const read = await admin.read(path);
    expect(read).toMatchObject({ auth_type: 'headers' });
    const { name, url, headers, auth_type, jwt_validation, forward_headers, timeouts, allowed_origins } = read;
    const same = { name, url, headers, auth_type, jwt_validation, forward_headers, timeouts, allowed_origins };
    const answer = await admin.put(path, same);
    expect({ ...jsonOf(answer), updated_at: 0 }).toEqual({ ...read, updated_at: 0 });
    const row = await gateway.dataSource.getRepository(McpServer).findOneByOrFail({ id });
    expect(JSON.stringify(row)).not.toContain(CLIENT_SECRET);
  });

  it('accepts the snake_case spellings of jwt_validation as well', async () => {
    const { path } = await make({
      jwt_validation: { jwks_uri: 'https://idp.example.com/jwks', required_claims: ['sub'] },
      user_identity_forwarding: { method: 'bearer' },
    });
    expect(await admin.read(path)).toMatchObject({ user_identity_forwarding: { method: 'bearer' } });
  });

  it('gives an MCP server another slug when its name is a path of the gateway', async () => {
    const { path } = await make({ name: 'Docs' });
    expect(await admin.read(path)).toMatchObject({ slug: 'docs-mcp' });
  });

  it('writes an audit entry for every change and test of an MCP server, without values', async () => {
    const { id, path } = await make({ headers: { 'X-Api-Key': SECRET } });
    await admin.patch(path, { description: 'changed' });
    for (const enabled of [false, true]) await admin.put(`${path}/tools`, { tools: [{ name: 'search', enabled }] });
    await admin.post(`${path}/test`);
    await admin.delete(path);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map(({ action }) => action)).toEqual([
      'mcp_servers.delete',
      'mcp_servers.test',
      'mcp_servers.update',
      'mcp_servers.update',
      'mcp_servers.update',
      'mcp_servers.create',
    ]);
    expect(entries[1]).toMatchObject({ changed_fields: [] });
    const changes = [
      { old: false, new: true },
      { old: null, new: false },
    ];
    for (const [index, change] of changes.entries()) {
      const entry = { changed_fields: ['tools'], changes: { 'tools.search.enabled': change } };
      expect(entries[2 + index]).toMatchObject(entry);
    }
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });
});

describe('the rules of an MCP server', () => {
  const forwarding = (fields: object): object => ({
    user_identity_forwarding: { method: 'jwt_header', ...fields },
  });
  const headers = (name: string, value: unknown = 'x'): object => ({ headers: { [name]: value } });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['url', { url: 'http://mcp.example.com/mcp' }],
    ['url', { url: 'https://user:secret@mcp.example.com' }],
    ['url', { url: 'https://mcp.example.com/mcp#part' }],
    ['url', { url: 'https://10.0.0.1/mcp' }],
    ['url', { url: 'https://metadata.internal/mcp' }],
    ['url', { url: 'mcp.example.com' }],
    ['url', { url: 'file:///etc/passwd' }],
    ['slug', { slug: 'v1' }],
    ['slug', { slug: 'Docs' }],
    ['slug', { slug: '.well-known' }],
    ['slug', { slug: 'with space' }],
    ['transport', { transport: 'stdio' }],
    ['auth_type', { auth_type: 'oauth' }],
    ['headers', { auth_type: 'headers' }],
    ['headers', { auth_type: 'none', ...headers('X-A') }],
    ['headers.bad name', headers('bad name')],
    ['headers.Host', headers('Host')],
    ['headers.Connection', headers('Connection')],
    ['headers.Transfer-Encoding', headers('Transfer-Encoding')],
    ['headers.Content-Length', headers('Content-Length')],
    ['headers.Mcp-Session-Id', headers('Mcp-Session-Id')],
    ['headers.x-user-claims', headers('x-user-claims')],
    ['headers.X_User_JWT', headers('X_User_JWT')],
    ['headers.X-A', headers('X-A', 'two\r\nlines')],
    ['headers.X-A', headers('X-A', 7)],
    ['headers.X-A', headers('X-A', 'José')],
    ['user_identity_forwarding.method', { user_identity_forwarding: { method: 'cookie' } }],
    ['user_identity_forwarding.method', { user_identity_forwarding: { method: 'bearer' } }],
    ['user_identity_forwarding.include_claims', forwarding({ include_claims: [] })],
    ['user_identity_forwarding.include_claims', forwarding({ include_claims: ['sub', 'sub'] })],
    ['user_identity_forwarding.include_claims', forwarding({ include_claims: [''] })],
    ['user_identity_forwarding.include_claims', forwarding({ include_claims: [1] })],
    ['user_identity_forwarding.jwt_expiry_seconds', forwarding({ jwt_expiry_seconds: 0 })],
    ['user_identity_forwarding.jwt_expiry_seconds', forwarding({ jwt_expiry_seconds: 86_401 })],
    ['user_identity_forwarding.jwt_expiry_seconds', forwarding({ method: 'claims_header', jwt_expiry_seconds: 60 })],
    ['user_identity_forwarding.header_name', forwarding({ header_name: 'not a token' })],
    ['user_identity_forwarding.header_name', forwarding({ header_name: 'Host' })],
    ['user_identity_forwarding.header_name', forwarding({ header_name: 'Mcp-Session-Id' })],
    ['user_identity_forwarding.header_name', forwarding({ header_name: 'Cookie' })],
    ['user_identity_forwarding.header_name', forwarding({ header_name: 'Authorization' })],
    ['user_identity_forwarding.unknown', forwarding({ unknown: 1 })],
    ['jwt_validation.jwksUri', { jwt_validation: {} }],
    ['jwt_validation.jwksUri', { jwt_validation: { ...VALIDATION, jwksUri: 'http://idp.example.com/jwks' } }],
    ['jwt_validation.jwksUri', { jwt_validation: { ...VALIDATION, jwksUri: 'https://127.0.0.2/jwks' } }],
    ['jwt_validation.requiredClaims', { jwt_validation: { ...VALIDATION, requiredClaims: 'sub' } }],
    ['jwt_validation.algorithms', { jwt_validation: { ...VALIDATION, algorithms: ['HS256'] } }],
    ['forward_headers.mode', { forward_headers: { mode: 'everything', headers: [] } }],
    ['forward_headers.headers.0', { forward_headers: { mode: 'all-except', headers: ['not a token'] } }],
    ['forward_headers.headers.0', { forward_headers: { mode: 'allowlist', headers: ['X-User-JWT'] } }],
    ['forward_headers.headers.0', { forward_headers: { mode: 'allowlist', headers: ['authorization'] } }],
    ['allowed_origins.0', { allowed_origins: ['*'] }],
    ['allowed_origins.0', { allowed_origins: ['https://app.example.com/'] }],
    ['allowed_origins.0', { allowed_origins: ['null'] }],
    ['timeouts.first_byte_ms', { timeouts: { first_byte_ms: 1 } }],
    ['enabled', { enabled: 'yes' }],
  ])('names %s in the 400 that %j gets', async (param, fields) => {
    const answer = await admin.post('/v1/mcp-servers', { ...VALID, ...fields });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
    expect(answer.text).not.toContain('secret@');
  });

  it('names all wrong fields of an MCP server at once, in updates too', async () => {
    const { path } = await make();
    const answer = await admin.patch(path, {
      url: 'http://mcp.example.com',
      allowed_origins: ['*'],
      user_identity_forwarding: { method: 'bearer' },
    });
    expect([...brokenRulesOf(answer)]).toEqual(['url', 'allowed_origins.0', 'user_identity_forwarding.method']);
    expect(await admin.read(path)).toMatchObject({ ...VALID, allowed_origins: [] });
  });

  it('refuses to take jwt_validation away from an MCP server with bearer', async () => {
    const { path } = await make({ jwt_validation: VALIDATION, user_identity_forwarding: { method: 'bearer' } });
    const answer = await admin.patch(path, { jwt_validation: null });
    expect([...brokenRulesOf(answer)]).toEqual(['user_identity_forwarding.method']);
  });

  it('refuses a slug that is taken in the same workspace, and accepts one that is taken in another', async () => {
    const slug = `taken-${randomUUID()}`;
    const workspace_id = await admin.createWorkspace(`Slugs ${randomUUID()}`);
    await make({ slug });
    await make({ slug, workspace_id });
    const answer = await admin.post('/v1/mcp-servers', { ...VALID, slug });
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict', param: 'slug' });
  });

  it("finds the organisation's server for its callers, whatever names workspaces use, but does not delete it by such a name", async () => {
    const slug = `namesake-${randomUUID()}`;
    const ours = await make({ slug });
    await make({ slug, workspace_id: await admin.createWorkspace(`Namesakes ${randomUUID()}`) });
    const path = `/v1/mcp-servers/${slug}`;
    expect(await admin.read(path)).toMatchObject({ id: ours.id });
    expect(jsonOf(await admin.patch(path, { description: 'ours' }))).toMatchObject({ id: ours.id });
    expect(refusalOf(await admin.delete(path))).toMatchObject({ status: 409, code: 'conflict' });
    expect((await admin.delete(ours.path)).status).toBe(204);
  });
});

describe('the secrets of an MCP server', () => {
  it('seals the secrets of an MCP server, masks them in answers, and logs none', async () => {
    const { id, path } = await make({ headers: { Authorization: `Bearer ${SECRET}` } });
    const answers = await Promise.all([
      admin.get(path),
      admin.get('/v1/mcp-servers'),
      admin.patch(path, { name: 'x' }),
      admin.post(`${path}/preview-headers`),
    ]);
    const rows: unknown = await gateway.dataSource.query('SELECT * FROM mcp_servers WHERE id = $1', [id]);
    for (const text of [...answers.map((answer) => answer.text), JSON.stringify(rows), gateway.log()]) {
      expect(text).not.toContain(SECRET);
    }
    expect(readObject(jsonOf(answers[0])['headers'], 'headers')).toEqual({ Authorization: '****cdef' });
  });

  it('sends stored secrets to another host only when the update contains them again', async () => {
    const { path } = await make({ headers: { 'X-Api-Key': SECRET } });
    const elsewhere = { url: 'https://other.example.com/mcp' };
    const masked = { headers: { 'X-Api-Key': '****cdef' } };
    for (const body of [elsewhere, { ...elsewhere, ...masked }]) {
      expect(refusalOf(await admin.patch(path, body))).toMatchObject({ status: 400, param: 'headers.X-Api-Key' });
    }
    expect((await admin.patch(path, { url: `${URL_HERE}/v2` })).status).toBe(200);
    expect((await admin.patch(path, { ...elsewhere, headers: { 'X-Api-Key': SECRET } })).status).toBe(200);
    expect((await admin.patch(path, { url: URL_HERE, auth_type: 'none' })).status).toBe(200);
    expect(await admin.read(path)).toMatchObject({ headers: {}, auth_type: 'none' });
  });

  it('merges headers on an update in any case of their names, and removes them with null', async () => {
    const { path } = await make({ headers: { 'X-One': SECRET, 'X-Two': SECRET } });
    await admin.patch(path, { headers: { 'x-one': 'another-secret-0123' } });
    expect(await admin.read(path)).toMatchObject({ headers: { 'x-one': '****0123', 'X-Two': '****cdef' } });
    await admin.patch(path, { headers: { 'x-one': null } });
    expect(await admin.read(path)).toMatchObject({ headers: { 'X-Two': '****cdef' }, auth_type: 'headers' });
  });

  it.each(['x-one', 'X-ONE', 'X_One'])('keeps a secret when its mask comes back under %s', async (name) => {
    const { path } = await make({ headers: { 'X-One': SECRET } });
    const answer = await admin.patch(path, { description: 'Another', headers: { [name]: '****cdef' } });
    expect([answer.status, jsonOf(answer)['headers']]).toEqual([200, { 'X-One': '****cdef' }]);
    // A value that is not the mask of the secret is a new secret, which replaces it.
    await admin.patch(path, { headers: { [name]: '****0000-not-a-mask' } });
    expect((await admin.read(path))['headers']).toEqual({ [name]: '****mask' });
  });

  it.each(['X-One', 'x_one', 'X-Never-There'])('refuses a mask of another secret, as under %s', async (name) => {
    const { path } = await make({ headers: { 'X-One': SECRET } });
    const refused = { status: 400, code: 'validation_failed', param: `headers.${name}` };
    expect(refusalOf(await admin.patch(path, { headers: { [name]: '****0000' } }))).toMatchObject(refused);
    const answer = await admin.post('/v1/mcp-servers', { ...VALID, headers: { [name]: '****cdef' } });
    expect(refusalOf(answer)).toMatchObject(refused);
    expect((await admin.read(path))['headers']).toEqual({ 'X-One': '****cdef' });
  });

  it('refuses a mask of another secret of the identity provider', async () => {
    const introspection = {
      endpoint: 'https://idp.example.com/introspect',
      client_id: 'gateway',
      client_secret: CLIENT_SECRET,
    };
    const stale = { jwt_validation: { introspection: { ...introspection, client_secret: '****0000' } } };
    const { path } = await make({ jwt_validation: { introspection } });
    for (const answer of [
      await admin.patch(path, stale),
      await admin.post('/v1/mcp-servers', { ...VALID, ...stale }),
    ]) {
      expect(refusalOf(answer)).toMatchObject({
        status: 400,
        code: 'validation_failed',
        param: 'jwt_validation.introspection.client_secret',
      });
    }
  });

  it('replaces secrets that do not open when an update contains all of them', async () => {
    const introspection = { endpoint: 'https://idp.example.com/introspect', client_id: 'gateway' };
    const jwt_validation = { introspection: { ...introspection, client_secret: CLIENT_SECRET } };
    const headers = { 'X-One': SECRET };
    const [{ id, path }, healthy] = [await make({ headers, jwt_validation }), await make({ headers })];
    await gateway.dataSource.query(
      'UPDATE "mcp_servers" SET "sealed_secrets" = (SELECT "sealed_secrets" FROM "mcp_servers" WHERE "id" = $1) WHERE "id" = $2',
      [healthy.id, id],
    );
    for (const body of [{ url: URL_HERE }, { headers }, { jwt_validation }, { headers: {}, jwt_validation }]) {
      expect(refusalOf(await admin.patch(path, body))).toMatchObject({ status: 502, code: 'secret_unavailable' });
    }
    const shown = await admin.read(path);
    for (const [param, body] of [
      ['headers.X-One', { headers: { 'X-One': '****cdef' }, jwt_validation }],
      ['jwt_validation.introspection.client_secret', { headers, jwt_validation: shown['jwt_validation'] }],
    ] as const) {
      expect(refusalOf(await admin.patch(path, body))).toMatchObject({ status: 400, code: 'validation_failed', param });
    }
    expect((await admin.patch(path, { headers, jwt_validation })).status).toBe(200);
    expect(await admin.read(path)).toMatchObject({
      headers: { 'X-One': '****cdef' },
      jwt_validation: { introspection: { ...introspection, client_secret: '****6789' } },
    });
    expect((await admin.patch(path, { description: 'Opens again' })).status).toBe(200);
  });

  it('repairs sealed secrets that do not open with any update when the server has no secrets', async () => {
    const [{ id, path }, other] = [await make(), await make({ headers: { 'X-One': SECRET } })];
    await gateway.dataSource.query(
      'UPDATE "mcp_servers" SET "sealed_secrets" = (SELECT "sealed_secrets" FROM "mcp_servers" WHERE "id" = $1) WHERE "id" = $2',
      [other.id, id],
    );
    const errorOfTest = async (): Promise<unknown> => jsonOf(await admin.post(`${path}/test`))['error'];
    expect(await errorOfTest()).toBe('secret_unavailable');
    expect((await admin.patch(path, {})).status).toBe(200);
    expect(await errorOfTest()).not.toBe('secret_unavailable');
  });

  it('refuses to send a stored client secret to another identity provider', async () => {
    const introspection = {
      endpoint: 'https://idp.example.com/introspect',
      client_id: 'gateway',
      client_secret: CLIENT_SECRET,
    };
    const { path } = await make({ jwt_validation: { introspection } });
    const moved = { ...introspection, endpoint: 'https://evil.example.com/introspect', client_secret: '****6789' };
    expect(refusalOf(await admin.patch(path, { jwt_validation: { introspection: moved } }))).toMatchObject({
      status: 400,
      param: 'jwt_validation.introspection.client_secret',
    });
  });
});

describe('the tools of an MCP server', () => {
  it('disables tools before they were ever seen, one by one', async () => {
    const { path } = await make();
    expect(await admin.list(`${path}/tools`)).toEqual([]);
    const answer = await admin.put(`${path}/tools`, {
      tools: [
        { name: 'search', enabled: false },
        { name: 'create', enabled: true },
      ],
    });
    expect(jsonOf(answer)).toMatchObject({
      object: 'list',
      total: 2,
      data: [
        { name: 'create', enabled: true, seen_at: null },
        { name: 'search', enabled: false, description: null },
      ],
    });
    expect(await admin.read(`${path}/tools?page_size=1&current_page=1`)).toMatchObject({
      total: 2,
      data: [{ name: 'search' }],
    });
    expect(refusalOf(await admin.get(`${path}/tools?page_size=0`))).toMatchObject({ status: 400, param: 'page_size' });
    await admin.put(`${path}/tools`, { tools: [{ name: 'search', enabled: true }] });
    expect((await admin.list(`${path}/tools`)).map(({ enabled }) => enabled)).toEqual([true, true]);
  });

  it('takes the list of tools back as it was read, and changes and audits nothing', async () => {
    const { id, path } = await make();
    const entries = async (): Promise<number> => (await admin.list(`/v1/audit-logs?resource=${id}`)).length;
    for (const tools of [[], [{ name: 'search', enabled: false }], [{ name: 'create', enabled: true }]]) {
      await admin.put(`${path}/tools`, { tools });
      const before = await entries();
      const list = await admin.read(`${path}/tools`);
      for (const body of [list, { ...list, total: 99 }, { tools: list['data'] }]) {
        const answer = await admin.put(`${path}/tools`, body);
        expect([answer.status, jsonOf(answer)]).toEqual([200, list]);
      }
      expect(await entries()).toBe(before);
    }
    const { data } = await admin.read(`${path}/tools?page_size=1&current_page=1`);
    expect(data).toMatchObject([{ name: 'search', enabled: false }]);
    const changed = await admin.put(`${path}/tools`, {
      object: 'list',
      total: 2,
      data: [{ name: 'search', enabled: true }],
    });
    expect(jsonOf(changed)).toMatchObject({ data: [{ name: 'create' }, { name: 'search', enabled: true }] });
    expect(await entries()).toBe(1 + 3);
  });

  it.each([
    ['tools', {}],
    ['object', { object: 'tools', tools: [] }],
    ['data', { data: [], tools: [{ name: 'x', enabled: true }] }],
    ['tools.0.name', { data: [{ enabled: true }] }],
    ['tools.0.name', { tools: [{ name: '', enabled: true }] }],
    ['tools.0.enabled', { tools: [{ name: 'x', enabled: 'no' }] }],
    [
      'tools',
      {
        tools: [
          { name: 'x', enabled: true },
          { name: 'x', enabled: false },
        ],
      },
    ],
  ])('names %s in the 400 that %j gets for tools', async (param, body) => {
    const { path } = await make();
    expect(brokenRulesOf(await admin.put(`${path}/tools`, body))).toContain(param);
  });
});

describe('tenancy', () => {
  it('hides MCP servers of other tenants and other workspaces', async () => {
    const [one, two] = [
      await admin.createWorkspace(`One ${randomUUID()}`),
      await admin.createWorkspace(`Two ${randomUUID()}`),
    ];
    const { path } = await make({ workspace_id: one });
    const scopes = [
      'mcp_servers.read',
      'mcp_servers.update',
      'mcp_servers.delete',
      'mcp_servers.list',
      'mcp_servers.create',
    ];
    const { client: inOne } = await admin.createKey({ scopes, level: 'workspace', workspace_id: one });
    const { client: inTwo } = await admin.createKey({ scopes, level: 'workspace', workspace_id: two });
    const { client: foreign } = await addTenant(gateway, `mcp-${randomUUID()}`);
    expect(await inOne.read(path)).toMatchObject({ workspace_id: one });
    for (const client of [inTwo, foreign]) {
      for (const answer of [
        await client.get(path),
        await client.patch(path, { name: 'mine' }),
        await client.delete(path),
        await client.get(`${path}/tools`),
        await client.put(`${path}/tools`, { tools: [{ name: 'x', enabled: false }] }),
        await client.post(`${path}/test`),
        await client.post(`${path}/preview-headers`),
      ]) {
        expect(answer.status).toBeGreaterThanOrEqual(403);
        expect(answer.status).toBeLessThanOrEqual(404);
      }
      expect(await client.list('/v1/mcp-servers')).toEqual([]);
    }
    expect(refusalOf(await inTwo.post('/v1/mcp-servers', { ...VALID, workspace_id: one }))).toMatchObject({
      status: 403,
      code: 'tenant_mismatch',
    });
  });
});

describe('a gateway without JWT_PRIVATE_KEY', () => {
  it('refuses jwt_header without JWT_PRIVATE_KEY, and names the missing setting', async () => {
    const keyless = await startTestApp({}, true);
    try {
      const answer = await new GatewayClient(keyless.url).post('/v1/mcp-servers', {
        ...VALID,
        user_identity_forwarding: { method: 'jwt_header' },
      });
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'user_identity_forwarding.method' });
      expect(answer.text).toContain('JWT_PRIVATE_KEY');
    } finally {
      await keyless.close();
    }
  });
});

describe('a gateway that has lost settings since a server was registered', () => {
  const HERE = 'http://127.0.0.1:1';
  const introspection = { endpoint: `${HERE}/introspect`, client_id: 'gateway', client_secret: CLIENT_SECRET };
  let less: TestApp;
  let client: GatewayClient;
  let path: string;

  beforeAll(async () => {
    less = await startTestApp({ EGRESS_ALLOW: '' }, true);
    client = new GatewayClient(less.url);
    ({ path } = await make({
      url: `${HERE}/mcp`,
      user_identity_forwarding: { method: 'jwt_header', include_claims: ['sub'] },
      jwt_validation: { jwks_uri: `${HERE}/keys`, introspection },
    }));
  });

  afterAll(() => less.close());

  it.each<object>([
    { enabled: false },
    { name: 'Renamed' },
    { description: 'What it is for' },
    { allowed_origins: ['https://app.example.com'] },
    { headers: { 'X-Api-Key': SECRET } },
    { user_identity_forwarding: { method: 'jwt_header' } },
    { jwt_validation: { jwksUri: `${HERE}/keys`, requiredClaims: ['sub'], introspection } },
  ])('accepts a change that does not depend on settings that were lost: %j', async (body) => {
    expect((await client.patch(path, body)).status).toBe(200);
  });

  it('accepts the whole server as it was read after settings were lost', async () => {
    const read = await client.read(path);
    const { name, url, headers, auth_type, user_identity_forwarding, jwt_validation } = read;
    const same = { name, url, headers, auth_type, user_identity_forwarding, jwt_validation };
    expect((await client.put(path, { ...same, enabled: false })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['url', { url: `${HERE}/other` }],
    ['jwt_validation.jwksUri', { jwt_validation: { jwksUri: `${HERE}/other-keys` } }],
    [
      'jwt_validation.introspection.endpoint',
      { jwt_validation: { introspection: { ...introspection, endpoint: `${HERE}/other` } } },
    ],
  ])('refuses a new %s that the remaining settings do not allow', async (param, body) => {
    expect(refusalOf(await client.patch(path, body))).toMatchObject({ status: 400, param });
  });

  it('refuses to start signing after JWT_PRIVATE_KEY was lost, and still requires jwt_validation for bearer', async () => {
    const { path: bearer } = await make({
      jwt_validation: { jwksUri: `${HERE}/keys` },
      user_identity_forwarding: { method: 'bearer' },
    });
    for (const body of [{ user_identity_forwarding: { method: 'jwt_header' } }, { jwt_validation: null }]) {
      expect(refusalOf(await client.patch(bearer, body))).toMatchObject({
        status: 400,
        param: 'user_identity_forwarding.method',
      });
    }
  });
});
