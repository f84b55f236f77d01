// MCP servers whose headers, and whose introspection secret, come from a secret manager.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { McpServer } from '../src/mcp/servers/mcp-server.entity.js';
import { eventually } from './support/eventually.js';
import type { GatewayClient } from './support/gateway-client.js';
import { json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { SecretGateway } from './support/secret-gateway.js';
import { requestLine } from './support/request-line.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY } from './support/test-app.js';

const VALUE = 'Bearer token-from-the-vault-0123456789';
const INLINE = 'inline-secret-0123456789';
const CLIENT_SECRET = 'jwt_validation.introspection.client_secret';
const URL_HERE = 'https://mcp.example.com/mcp';
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } };
const INTROSPECTION = { endpoint: 'https://idp.example.com/introspect', client_id: 'gateway' };

let gateway: SecretGateway;
let server: RawMcpServer;
let reference: string;

beforeAll(async () => {
  [gateway, server] = await Promise.all([SecretGateway.start(), startRawMcpServer()]);
  gateway.kv.put('mcp', { token: VALUE });
  reference = await gateway.reference('mcp', { slug: 'mcp' });
});

beforeEach(() => {
  gateway.vault.heal();
  server.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  server.forget();
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

const mapped = (target_field = 'headers.Authorization', fields: object = {}): object => ({
  target_field,
  secret_reference_id: reference,
  ...fields,
});

interface Made {
  readonly id: string;
  readonly path: string;
  /** The address that clients connect to. */
  readonly url: string;
}

/** A server at the raw double; by default, its `Authorization` comes from a secret. */
async function make(fields: object = {}, client = gateway.admin): Promise<Made> {
  const slug = `s-${randomUUID()}`;
  const body = { name: 'Mapped', slug, url: server.endpoint.href, secret_mappings: [mapped()], ...fields };
  const { id } = await client.create('/v1/mcp-servers', body);
  return { id: String(id), path: `/v1/mcp-servers/${String(id)}`, url: `${gateway.app.url}/${slug}/mcp` };
}

function call(url: string, headers: object = {}): Promise<Answer> {
  const all = { ...HEADERS, 'x-gateway-api-key': ADMIN_KEY, ...headers };
  return send(url, { headers: all, body: JSON.stringify(CALL) });
}

/** The code of the gateway's own error on an MCP route. */
function codeOf(answer: Answer): unknown {
  return Object(Object(jsonOf(answer)['error']).data).code;
}

/** The values of a header that reached the server. */
function received(name: string): readonly string[] {
  return server.received.flatMap(({ rawHeaders }) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name),
  );
}

function create(fields: object, client = gateway.admin): Promise<Answer> {
  return client.post('/v1/mcp-servers', { name: 'x', url: URL_HERE, ...fields });
}

describe('an MCP server with a mapped header', () => {
  it('sends the mapped secret and fetches it once for many calls', async () => {
    gateway.kv.put('busy', { token: VALUE });
    const busy = await gateway.reference('busy');
    const { url } = await make({ secret_mappings: [mapped('headers.Authorization', { secret_reference_id: busy })] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => call(url)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(received('authorization'))).toEqual(new Set([VALUE]));
    expect(received('authorization')).toHaveLength(100);
    expect(gateway.readsOf('busy')).toBe(1);
  });

  it('sends mapped and stored headers on calls, streams and session ends', async () => {
    const { url } = await make({ headers: { 'X-Stored': INLINE } });
    await send(url, { method: 'GET', headers: { accept: 'text/event-stream', 'x-gateway-api-key': ADMIN_KEY } });
    await send(url, { method: 'DELETE', headers: { 'x-gateway-api-key': ADMIN_KEY } });
    await call(url);
    expect(received('authorization')).toEqual([VALUE, VALUE, VALUE]);
    expect(received('x-stored')).toEqual([INLINE, INLINE, INLINE]);
  });

  it('returns mappings with ids and defaults, and without values', async () => {
    const { path } = await make({ secret_mappings: [mapped('headers.X-Key', { secret_reference_id: 'mcp' })] });
    const mapping = {
      target_field: 'headers.X-Key',
      secret_reference_id: reference,
      secret_key: null,
      value_format: 'string',
    };
    const whole = { headers: {}, auth_type: 'headers', secret_mappings: [mapping] };
    expect(await gateway.admin.read(path)).toMatchObject(whole);
    expect(await gateway.admin.list('/v1/mcp-servers?page_size=100')).toContainEqual(await gateway.admin.read(path));
    expect(jsonOf(await gateway.admin.patch(path, { name: 'Renamed' }))).toMatchObject({ ...whole, name: 'Renamed' });
  });

  it('returns an empty list when a server has no mappings', async () => {
    const { path } = await make({ secret_mappings: [] });
    expect(await gateway.admin.read(path)).toMatchObject({ secret_mappings: [], auth_type: 'none' });
  });

  it('accepts a server as it was read', async () => {
    const introspection = { ...INTROSPECTION };
    const { path } = await make({
      headers: { 'X-Stored': INLINE },
      jwt_validation: { introspection },
      secret_mappings: [mapped(), mapped(CLIENT_SECRET)],
    });
    const read = await gateway.admin.read(path);
    const { name, headers, auth_type, jwt_validation, secret_mappings } = read;
    expect(jwt_validation).toEqual({ introspection });
    const answer = await gateway.admin.put(path, { name, headers, auth_type, jwt_validation, secret_mappings });
    expect({ ...jsonOf(answer), updated_at: 0 }).toEqual({ ...read, updated_at: 0 });
  });

  it('extracts parts of a JSON secret, and sends numbers as text', async () => {
    gateway.kv.put('parts', { key: 'part-0123456789', tenant: 42 });
    const secret_reference_id = await gateway.reference('parts');
    const part = (name: string, secret_key: string): object => mapped(name, { secret_reference_id, secret_key });
    const { url } = await make({ secret_mappings: [part('headers.X-Key', 'key'), part('headers.X-Tenant', 'tenant')] });
    expect((await call(url)).status).toBe(200);
    expect([received('x-key'), received('x-tenant')]).toEqual([['part-0123456789'], ['42']]);
    expect(gateway.readsOf('parts')).toBe(1);
  });

  it('does not let a client set a mapped header', async () => {
    const { url } = await make({
      secret_mappings: [mapped('headers.X-Internal')],
      forward_headers: { mode: 'all-except', headers: [] },
    });
    await call(url, { 'x-internal': 'forged', X_Internal: 'forged' });
    expect(received('x-internal')).toEqual([VALUE]);
    expect(received('x_internal')).toEqual([]);
  });

  it('masks a mapped header in the preview', async () => {
    const { path } = await make();
    const answer = await gateway.admin.post(`${path}/preview-headers`);
    expect(jsonOf(answer)).toMatchObject({ headers: { authorization: '****' } });
  });

  it('writes changed mappings to the audit log by field name', async () => {
    const { id, path } = await make();
    await gateway.admin.patch(path, { secret_mappings: null });
    const entries = await gateway.admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries[0]).toMatchObject({ action: 'mcp_servers.update', changed_fields: ['secret_mappings'] });
  });

  it('never shows the mapped value in rows, answers or the log', async () => {
    const { id, path, url } = await make();
    const answers = [
      await gateway.admin.get(path),
      await gateway.admin.post(`${path}/preview-headers`),
      await call(url),
    ];
    // A refusal, which ends the test at once.
    server.answerWith(plain(403));
    answers.push(await gateway.admin.post(`${path}/test`));
    const rows: unknown = await gateway.app.dataSource.query('SELECT * FROM "mcp_servers" WHERE "id" = $1', [id]);
    const texts = [...answers.map(({ text }) => text), JSON.stringify(rows), gateway.app.log()];
    for (const text of texts) expect(text).not.toContain('token-from-the-vault');
    const row = await gateway.app.dataSource.getRepository(McpServer).findOneOrFail({
      select: { id: true, sealedSecrets: true },
      where: { id },
    });
    expect(row.sealedSecrets).toBeNull();
  });

  it('refuses to delete a reference while an MCP server uses it', async () => {
    const free = await gateway.reference('mcp');
    const { path } = await make({ secret_mappings: [mapped('headers.X-Key', { secret_reference_id: free })] });
    const { slug } = await gateway.admin.read(path);
    const refused = await gateway.admin.delete(`/v1/secret-references/${free}`);
    expect(refusalOf(refused)).toMatchObject({ status: 409, code: 'conflict' });
    expect(refused.text).toContain(`mcp-server ${String(slug)}`);
    expect((await gateway.admin.delete(path)).status).toBe(204);
    expect((await gateway.admin.delete(`/v1/secret-references/${free}`)).status).toBe(204);
  });
});

describe('refused mappings of an MCP server', () => {
  it.each<[readonly object[], string]>([
    [[{ target_field: 'key' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'config.url' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'url' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.bad name' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.Host' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.Mcp-Session-Id' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.Content-Length' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.x-user-claims' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.X_User_JWT' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.X-A' }, { target_field: 'headers.x_a' }], 'secret_mappings.1.target_field'],
    [[{ target_field: 'headers.X-A' }, { target_field: 'headers.X-A' }], 'secret_mappings.1.target_field'],
    [[{ target_field: CLIENT_SECRET }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'headers.X-A', value_format: 'xml' }], 'secret_mappings.0.value_format'],
    [[{ target_field: 'headers.X-A', secret_key: '' }], 'secret_mappings.0.secret_key'],
    [[{ target_field: 'headers.X-A', extra: 1 }], 'secret_mappings.0.extra'],
  ])('refuses mappings that break a rule: %j', async (fields, param) => {
    const secret_mappings = fields.map((field) => ({ secret_reference_id: reference, ...field }));
    expect(refusalOf(await create({ secret_mappings }))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param,
    });
  });

  it.each([[{}], ['headers.X'], [[1]], [[null]]])('refuses malformed mappings: %j', async (secret_mappings) => {
    const answer = await create({ secret_mappings });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(String([...brokenRulesOf(answer)][0])).toMatch(/^secret_mappings/);
  });

  it.each([['X-Key'], ['x-key'], ['x_key']])(
    'refuses a mapping for a header that the request also gives: %s',
    async (name) => {
      const answer = await create({ headers: { [name]: INLINE }, secret_mappings: [mapped('headers.X-Key')] });
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'secret_mappings.0.target_field' });
      expect(answer.text).not.toContain(INLINE);
    },
  );

  it('refuses a mapping for a client secret that the request also gives', async () => {
    const jwt_validation = { introspection: { ...INTROSPECTION, client_secret: INLINE } };
    const answer = await create({ jwt_validation, secret_mappings: [mapped(CLIENT_SECRET)] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'secret_mappings.0.target_field' });
  });

  it('refuses a mapping for the header that forwards the identity', async () => {
    const user_identity_forwarding = { method: 'claims_header', header_name: 'X-Who' };
    const answer = await create({ user_identity_forwarding, secret_mappings: [mapped('headers.x-who')] });
    expect([...brokenRulesOf(answer)]).toEqual(['secret_mappings.0.target_field']);
  });

  it('refuses mappings with auth_type none, and still requires a client secret', async () => {
    const none = await create({ auth_type: 'none', secret_mappings: [mapped()] });
    expect(refusalOf(none)).toMatchObject({ status: 400, param: 'headers' });
    const without = await create({ jwt_validation: { introspection: INTROSPECTION }, secret_mappings: [mapped()] });
    expect(refusalOf(without)).toMatchObject({ status: 400, param: CLIENT_SECRET });
  });

  it('stores nothing when a mapping is refused', async () => {
    const before: unknown = await gateway.app.dataSource.query('SELECT count(*) FROM "secret_mappings"');
    const name = `left ${randomUUID()}`;
    const missing = mapped('headers.X-B', { secret_reference_id: 'missing' });
    const answer = await create({ name, secret_mappings: [mapped(), missing] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'secret_mappings.1.secret_reference_id' });
    expect(await gateway.app.dataSource.query('SELECT count(*) FROM "secret_mappings"')).toEqual(before);
    expect(JSON.stringify(await gateway.admin.list('/v1/mcp-servers?page_size=100'))).not.toContain(name);
  });
});

describe('an update of an MCP server with mappings', () => {
  it('deletes the stored value of a header when an update maps it', async () => {
    const { path, url } = await make({ headers: { 'x-KEY': INLINE }, secret_mappings: [] });
    await call(url);
    const answer = await gateway.admin.patch(path, { secret_mappings: [mapped('headers.X-Key')] });
    expect(jsonOf(answer)).toMatchObject({ headers: {}, secret_mappings: [{ target_field: 'headers.X-Key' }] });
    await call(url);
    expect(received('x-key')).toEqual([INLINE, VALUE]);
    const cleared = await gateway.admin.patch(path, { secret_mappings: null });
    expect(jsonOf(cleared)).toMatchObject({ headers: {}, auth_type: 'none', secret_mappings: [] });
  });

  it.each([null, []])(
    'accepts a stored header value after an update clears the mappings with %j',
    async (secret_mappings) => {
      const { path, url } = await make();
      const headers = { Authorization: INLINE };
      const answer = await gateway.admin.patch(path, { secret_mappings, headers });
      expect(jsonOf(answer)).toMatchObject({ headers: { Authorization: '****6789' }, secret_mappings: [] });
      await call(url);
      expect(received('authorization')).toEqual([INLINE]);
    },
  );

  it('requires an inline client secret when its mapping is cleared', async () => {
    const { path } = await make({
      jwt_validation: { introspection: INTROSPECTION },
      secret_mappings: [mapped(CLIENT_SECRET)],
    });
    const refused = await gateway.admin.patch(path, { secret_mappings: [] });
    expect(refusalOf(refused)).toMatchObject({ status: 400, code: 'validation_failed', param: CLIENT_SECRET });
    const jwt_validation = { introspection: { ...INTROSPECTION, client_secret: INLINE } };
    const answer = await gateway.admin.patch(path, { secret_mappings: [], jwt_validation });
    expect(jsonOf(answer)).toMatchObject({
      jwt_validation: { introspection: { client_secret: '****6789' } },
      secret_mappings: [],
    });
    const again = await gateway.admin.patch(path, { secret_mappings: [mapped(CLIENT_SECRET)] });
    expect(jsonOf(again)).toMatchObject({ jwt_validation: { introspection: INTROSPECTION } });
    expect(again.text).not.toContain('client_secret":');
  });

  it('keeps the mappings when other fields are updated', async () => {
    const { path, url } = await make();
    const changes = { description: 'x', headers: { 'X-Other': INLINE }, url: `${server.endpoint.href}?v=2` };
    expect((await gateway.admin.patch(path, changes)).status).toBe(200);
    await call(url);
    expect([received('authorization'), received('x-other')]).toEqual([[VALUE], [INLINE]]);
  });

  it('refuses an update that gives a mapped field a value', async () => {
    const { path } = await make();
    for (const name of ['Authorization', 'authorization']) {
      const refused = await gateway.admin.patch(path, { headers: { [name]: INLINE } });
      expect(refusalOf(refused)).toMatchObject({ status: 400, param: 'headers.Authorization' });
    }
    expect((await gateway.admin.patch(path, { headers: { Authorization: null } })).status).toBe(200);
  });

  it('refuses an update that removes the field of a mapping', async () => {
    const { path } = await make({
      jwt_validation: { introspection: INTROSPECTION },
      secret_mappings: [mapped(CLIENT_SECRET)],
    });
    const refused = await gateway.admin.patch(path, { jwt_validation: null });
    expect(refusalOf(refused)).toMatchObject({ status: 400, param: CLIENT_SECRET });
    expect((await gateway.admin.patch(path, { jwt_validation: null, secret_mappings: null })).status).toBe(200);
  });

  it('uses changed mappings from the next call on', async () => {
    gateway.kv.put('second', { token: 'second-0123456789' });
    const second = await gateway.reference('second');
    const { path, url } = await make();
    await call(url);
    await gateway.admin.patch(path, {
      secret_mappings: [mapped('headers.Authorization', { secret_reference_id: second })],
    });
    await call(url);
    expect(received('authorization')).toEqual([VALUE, 'second-0123456789']);
  });

  it('applies concurrent updates without losing one', async () => {
    const { path, url } = await make({ headers: { Authorization: INLINE }, secret_mappings: [] });
    const answers = await Promise.all([
      gateway.admin.patch(path, { secret_mappings: [mapped()] }),
      gateway.admin.patch(path, { headers: { 'X-Other': INLINE } }),
      gateway.admin.patch(path, { description: 'x' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await call(url);
    expect([received('authorization'), received('x-other')]).toEqual([[VALUE], [INLINE]]);
  });
});

describe('a value that is not a valid header', () => {
  it.each([
    ['a field that the secret lacks', { a: 'x' }, { secret_key: 'other' }, 'key_missing'],
    ['an empty text', { a: '' }, {}, 'not valid: headers.Authorization'],
    ['a text of two lines', { a: 'one\r\nX-Injected: 1' }, {}, 'not valid: headers.Authorization'],
    ['letters that no header has', { a: 'Jos\u00e9' }, {}, 'not valid: headers.Authorization'],
    ['an object', { a: { b: 1 } }, { value_format: 'json' }, 'not valid: headers.Authorization'],
    ['a text that is too long', { a: 'x'.repeat(8_193) }, {}, 'not valid: headers.Authorization'],
  ])(
    'refuses calls when the mapped value is invalid, and logs the reason: %s',
    async (_what, secret, fields, reason) => {
      const name = `wrong-${randomUUID()}`;
      gateway.kv.put(name, secret);
      const secret_reference_id = await gateway.reference(name);
      const { path, url } = await make({
        secret_mappings: [mapped('headers.Authorization', { secret_reference_id, ...fields })],
      });
      const answer = await call(url);
      expect([answer.status, codeOf(answer)]).toEqual([502, 'secret_unavailable']);
      const trace = `test-${name}`;
      const tested = jsonOf(await gateway.admin.post(`${path}/test`, undefined, { 'x-gateway-trace-id': trace }));
      const secret_error = reason === 'key_missing' ? reason : 'value_not_valid';
      expect(tested).toMatchObject({ ok: false, error: 'secret_unavailable', secret_error });
      const line = await requestLine(gateway.app, trace);
      expect(line).toMatchObject({ status: 200, error_code: 'secret_unavailable' });
      expect(line['error_reason']).toContain(reason);
      expect(refusalOf(await gateway.admin.post(`${path}/preview-headers`))).toMatchObject({ status: 502 });
      expect(server.received).toEqual([]);
      await eventually(() => gateway.app.log().includes(reason));
    },
  );
});

describe('the tenants of mapped secret references', () => {
  const SCOPES = ['create', 'read', 'update', 'delete', 'list'].flatMap((verb) => [
    `mcp_servers.${verb}`,
    `secret_references.${verb}`,
  ]);

  async function addWorkspace(): Promise<{ readonly id: string; readonly client: GatewayClient }> {
    const id = await gateway.admin.createWorkspace(`W ${randomUUID()}`);
    const key = { level: 'workspace', workspace_id: id, scopes: [...SCOPES, 'mcp.invoke', 'secret_references.use'] };
    return { id, client: (await gateway.admin.createKey(key)).client };
  }

  it('refuses references of other tenants with the message for unknown ones', async () => {
    const [mine, theirs] = [await addWorkspace(), await addWorkspace()];
    const foreign = await addTenant(gateway.app, `foreign-${randomUUID()}`);
    const ofTheirs = await gateway.reference('mcp', { allowed_workspaces: [theirs.id] });
    const ofForeign = await gateway.reference('mcp', {}, foreign.client);
    const answers = await Promise.all(
      [ofTheirs, ofForeign, randomUUID(), 'no-such-slug'].map((secret_reference_id) =>
        create({ secret_mappings: [mapped('headers.X-A', { secret_reference_id })] }, mine.client),
      ),
    );
    for (const answer of answers) {
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'secret_mappings.0.secret_reference_id' });
    }
    expect(new Set(answers.map((answer) => Object(jsonOf(answer)['error']).message)).size).toBe(1);
  });

  it('lets a workspace map its own reference, and keeps it while it is used', async () => {
    const [mine, other] = [await addWorkspace(), await addWorkspace()];
    const own = await gateway.reference('mcp', { allowed_workspaces: [mine.id] });
    const secret_mappings = [mapped('headers.X-Key', { secret_reference_id: own })];
    const { path } = await make({ secret_mappings, workspace_id: mine.id }, mine.client);
    // A server of the whole organisation also serves workspaces that may not use the reference.
    expect(refusalOf(await create({ secret_mappings }))).toMatchObject({
      status: 400,
      param: 'secret_mappings.0.secret_reference_id',
    });
    const moved = await gateway.admin.patch(`/v1/secret-references/${own}`, { allowed_workspaces: [other.id] });
    expect(refusalOf(moved)).toMatchObject({ status: 409, code: 'conflict' });
    expect(moved.text).toContain('mcp-server');
    expect((await mine.client.delete(path)).status).toBe(204);
  });
});

describe('the destination of a mapped secret', () => {
  it('requires the mappings again when a server moves to another host', async () => {
    const { path } = await make();
    const url = 'https://elsewhere.example.com/mcp';
    expect(refusalOf(await gateway.admin.patch(path, { url }))).toMatchObject({
      status: 400,
      param: 'secret_mappings',
    });
    expect(await gateway.admin.read(path)).toMatchObject({ url: server.endpoint.href });
    expect((await gateway.admin.patch(path, { url: `${server.endpoint.origin}/other` })).status).toBe(200);
    expect((await gateway.admin.patch(path, { url, secret_mappings: [mapped()] })).status).toBe(200);
  });

  it('requires the mappings again when the introspection endpoint moves', async () => {
    const jwt_validation = { introspection: INTROSPECTION };
    const { path } = await make({ secret_mappings: [mapped(CLIENT_SECRET)], jwt_validation });
    const elsewhere = { introspection: { ...INTROSPECTION, endpoint: 'https://elsewhere.example.com/introspect' } };
    expect(refusalOf(await gateway.admin.patch(path, { jwt_validation: elsewhere }))).toMatchObject({
      status: 400,
      param: 'secret_mappings',
    });
    expect((await gateway.admin.patch(path, { jwt_validation })).status).toBe(200);
  });

  it('allows mappings only to callers that may read secret references', async () => {
    const { client } = await gateway.admin.createKey({ scopes: ['mcp_servers.create', 'mcp_servers.update'] });
    const { path } = await make();
    const body = { name: 'Mine', url: URL_HERE, secret_mappings: [mapped()] };
    expect(refusalOf(await client.post('/v1/mcp-servers', body))).toMatchObject({ status: 403 });
    const moved = { url: URL_HERE, secret_mappings: [mapped()] };
    expect(refusalOf(await client.patch(path, moved))).toMatchObject({ status: 403, code: 'permission_denied' });
    expect((await client.patch(path, { name: 'Renamed' })).status).toBe(200);
  });
});
