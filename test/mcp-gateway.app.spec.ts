import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { McpCall } from '../src/mcp/calls/mcp-call.entity.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { callTool, connectClient, connectLegacyClient } from './support/mcp-client.js';
import { type LegacyMcpServer, startLegacyMcpServer } from './support/mcp-legacy-server.js';
import { events, json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const KEY = { 'x-gateway-api-key': ADMIN_KEY };
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const JWT = { user_identity_forwarding: { method: 'jwt_header' } };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } };
const ALICE = { user_id: 'alice', email: 'alice@example.com', username: 'Alice' };

let gateway: TestApp;
let admin: GatewayClient;
let raw: RawMcpServer;
let sdk: McpSdkServer;
let legacy: LegacyMcpServer;
let alice: Readonly<Record<string, string>>;
let bob: Readonly<Record<string, string>>;

beforeAll(async () => {
  [gateway, raw, sdk, legacy] = await Promise.all([
    startTestApp({ JWT_PRIVATE_KEY: PEM }),
    startRawMcpServer(),
    startMcpServer(),
    startLegacyMcpServer(),
  ]);
  admin = new GatewayClient(gateway.url);
  [alice, bob] = await Promise.all([credentialsOf(ALICE), credentialsOf({ user_id: 'bob' })]);
});

afterEach(() => {
  raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  raw.forget();
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([raw.close(), sdk.close(), legacy.close()]);
});

async function credentialsOf(user: object): Promise<Readonly<Record<string, string>>> {
  const { key } = await admin.createKey({ scopes: ['mcp.invoke'], type: 'user', user });
  return { 'x-gateway-api-key': key };
}

/** A registered server, and its address at the gateway. */
async function register(
  url: URL,
  fields: object = {},
): Promise<{ readonly url: string; readonly path: string; readonly slug: string }> {
  const slug = `s-${randomUUID()}`;
  const { id } = await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: url.href, ...fields });
  return { url: `${gateway.url}/${slug}/mcp`, path: `/v1/mcp-servers/${String(id)}`, slug };
}

function post(url: string, headers: Readonly<Record<string, string>>, body: unknown = CALL): Promise<Answer> {
  return send(url, { headers: { ...ACCEPT, ...headers }, body: JSON.stringify(body) });
}

/** The code of the gateway's own error. */
function codeOf(answer: Answer): unknown {
  const { error } = jsonOf(answer);
  return Object(Object(error).data).code;
}

/** Values of a header that reached the server, in every spelling that some servers treat as equal. */
function received(name: string): readonly string[] {
  const folded = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  return raw.received.flatMap(({ rawHeaders }) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && folded(rawHeaders[at - 1] ?? '') === folded(name)),
  );
}

async function rowsOf(slug: string): Promise<readonly McpCall[]> {
  await gateway.app.get(McpCallRecorder, { strict: false }).flush();
  return gateway.dataSource.getRepository(McpCall).find({ where: { serverSlug: slug }, order: { createdAt: 'ASC' } });
}

describe('the official MCP client behind the gateway', () => {
  it('lists and calls tools with a gateway key in either header', async () => {
    const { url } = await register(sdk.endpoint);
    for (const headers of [KEY, { authorization: `Bearer ${ADMIN_KEY}` }]) {
      const { client, close } = await connectClient(url, headers);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
      expect(await callTool(client, 'echo', { text: 'hello' })).toBe('hello');
      await close();
    }
  });

  it("ends the server's session when the client ends it", async () => {
    const { url } = await register(sdk.endpoint);
    const before = sdk.sessions.size;
    const { transport, close } = await connectClient(url, KEY);
    expect(sdk.sessions.size).toBe(before + 1);
    await transport.terminateSession();
    expect(sdk.sessions.size).toBe(before);
    await close();
  });

  it('serves the SSE transport too', async () => {
    const { slug } = await register(legacy.endpoint, { transport: 'sse' });
    const client = await connectLegacyClient(`${gateway.url}/${slug}/sse`, KEY);
    expect(await callTool(client, 'echo', { text: 'from long ago' })).toBe('from long ago');
    await client.close();
  });

  it('serves and tests an SSE server whose message addresses are long', async () => {
    const server = await startLegacyMcpServer(`token=${'x'.repeat(4_000)}`);
    const { slug, path } = await register(server.endpoint, { transport: 'sse' });
    const client = await connectLegacyClient(`${gateway.url}/${slug}/sse`, KEY);
    expect(await callTool(client, 'echo', { text: 'at length' })).toBe('at length');
    await client.close();
    expect(jsonOf(await admin.post(`${path}/test`))).toMatchObject({ ok: true, tools: 1 });
    await server.close();
  });

  it('hides a disabled tool on the SSE transport', async () => {
    const { slug, path } = await register(legacy.endpoint, { transport: 'sse' });
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    const client = await connectLegacyClient(`${gateway.url}/${slug}/sse`, KEY);
    expect((await client.listTools()).tools).toEqual([]);
    await expect(client.callTool({ name: 'echo', arguments: { text: 'hidden' } })).rejects.toThrow('permission_denied');
    await client.close();
  });

  it('selects the workspace in the address by slug or id', async () => {
    const workspace_id = await admin.createWorkspace(`W ${randomUUID()}`);
    const { slug: workspace } = await admin.read(`/v1/workspaces/${workspace_id}`);
    const other = await admin.createWorkspace(`V ${randomUUID()}`);
    const slug = `twin-${randomUUID()}`;
    for (const id of [workspace_id, other]) {
      await admin.create('/v1/mcp-servers', { name: 'Twin', slug, url: raw.endpoint.href, workspace_id: id });
    }
    expect((await post(`${gateway.url}/${String(workspace)}/${slug}/mcp`, KEY)).status).toBe(200);
    expect((await post(`${gateway.url}/${workspace_id}/${slug}/mcp`, KEY)).status).toBe(200);
    const ambiguous = await post(`${gateway.url}/${slug}/mcp`, KEY);
    expect([ambiguous.status, codeOf(ambiguous)]).toEqual([409, 'conflict']);
    const { key } = await admin.createKey({ scopes: ['mcp.invoke'], level: 'workspace', workspace_id });
    expect((await post(`${gateway.url}/${slug}/mcp`, { 'x-gateway-api-key': key })).status).toBe(200);
    expect((await post(`${gateway.url}/${other}/${slug}/mcp`, { 'x-gateway-api-key': key })).status).toBe(404);
  });
});

describe('the forwarded identity of the user', () => {
  it('forwards the identity as a token that verifies with the published keys', async () => {
    const { url } = await register(raw.endpoint, JWT);
    expect((await post(url, alice)).status).toBe(200);
    const [token = ''] = received('x-user-jwt');
    const keys = createRemoteJWKSet(new URL(`${gateway.url}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: 'service-mcp-gateway',
      currentDate: gateway.clock.now(),
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toMatchObject({ ...ALICE, sub: 'alice' });
    expect(Number(payload.exp) - Number(payload.iat)).toBe(300);
  });

  it('forwards plain claims when configured, and no identity otherwise', async () => {
    const claims = await register(raw.endpoint, {
      user_identity_forwarding: { method: 'claims_header', include_claims: ['email', 'sub'], header_name: 'X-Who' },
    });
    const none = await register(raw.endpoint);
    await post(claims.url, alice);
    expect(received('x-who')).toEqual(['{"email":"alice@example.com","sub":"alice"}']);
    raw.forget();
    await post(none.url, alice);
    for (const name of ['x-who', 'x-user-claims', 'x-user-jwt', 'authorization', 'x-gateway-api-key']) {
      expect(received(name)).toEqual([]);
    }
  });

  const SPOOFS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['plain', { 'X-User-JWT': 'forged', 'X-User-Claims': '{"sub":"forged"}' }],
    ['underscores', { X_User_JWT: 'forged', X_USER_CLAIMS: 'forged' }],
    ['dots', { 'X.User.JWT': 'forged', 'x.user.claims': 'forged' }],
    ['connection', { Connection: 'X-User-JWT, X-User-Claims, X-Who', 'X-User-JWT': 'forged' }],
    ['custom', { 'X-Who': 'forged', X_Who: 'forged' }],
  ];
  const FORWARDINGS: readonly (readonly [string, object, string])[] = [
    ['jwt_header', { method: 'jwt_header' }, 'x-user-jwt'],
    ['claims_header', { method: 'claims_header' }, 'x-user-claims'],
    ['a header of its own', { method: 'claims_header', header_name: 'X-Who' }, 'x-who'],
  ];
  const RULES = [null, { mode: 'all-except', headers: [] }] as const;
  const METHODS = ['POST', 'GET', 'DELETE'] as const;
  const matrix = SPOOFS.flatMap(([kind, sent]) =>
    FORWARDINGS.flatMap(([name, forwarding, header]) =>
      RULES.map((rule) => ({ kind, sent, name, forwarding, header, rule })),
    ),
  );

  it.each(matrix)(
    'removes identity headers of the client: $kind, $name, $rule',
    async ({ sent, forwarding, header, rule }) => {
      const { url } = await register(raw.endpoint, { user_identity_forwarding: forwarding, forward_headers: rule });
      for (const method of METHODS) {
        const body = method === 'POST' ? JSON.stringify(CALL) : '';
        await send(url, { method, headers: { ...ACCEPT, ...alice, ...sent }, body });
      }
      expect(raw.received.map(({ method }) => method)).toEqual(METHODS);
      expect(received(header)).toHaveLength(METHODS.length);
      // Another server's identity header is an ordinary header for this one.
      const own = header === 'x-who' ? ['x-who'] : [];
      for (const name of ['x-user-jwt', 'x-user-claims', ...own]) {
        const values = received(name);
        expect(values.filter((value) => value.includes('forged'))).toEqual([]);
        if (name !== header) expect(values).toEqual([]);
      }
    },
  );

  it('removes identity headers of the client on the SSE transport', async () => {
    const { slug } = await register(raw.endpoint, { ...JWT, transport: 'sse', forward_headers: RULES[1] });
    raw.answerWith(events(['event: endpoint\ndata: /messages?sessionId=1\n\n']));
    const sent = { ...alice, 'X-User-JWT': 'forged', X_User_JWT: 'forged' };
    const stream = await send(`${gateway.url}/${slug}/sse`, { method: 'GET', headers: sent });
    const endpoint = /data: (\S+)/.exec(stream.text)?.[1] ?? '';
    expect(endpoint).toMatch(new RegExp(`^/${slug}/messages\\?sessionId=`));
    const slashed = await send(`${gateway.url}/${slug}/sse/`, { method: 'GET', headers: sent });
    expect(slashed.text).toContain(`data: /${slug}/messages?sessionId=`);
    raw.answerWith(plain(202));
    expect((await post(gateway.url + endpoint, sent)).status).toBe(202);
    expect(received('x-user-jwt')).toHaveLength(3);
    expect(received('x-user-jwt').join()).not.toContain('forged');
    expect(raw.received.map(({ path }) => path)).toEqual(['/mcp', '/mcp', '/messages?sessionId=1']);
    expect((await post(gateway.url + endpoint, bob)).status).toBe(404);
    for (const target of [`http://a:99999${endpoint}`, `http://1.2.3.999/${slug}/messages`]) {
      expect(await statusOfTarget(target, alice)).not.toBe(500);
    }
  });
});

describe('an MCP session', () => {
  it('accepts a session id only from its own user at its own server', async () => {
    const { url } = await register(sdk.endpoint);
    const elsewhere = await register(raw.endpoint);
    const { sessionId, close } = await connectClient(url, alice);
    const id = sessionId();
    expect(id).toMatch(/^[0-9a-f-]{36}-[0-9a-f]{32}$/);
    const version = { 'mcp-protocol-version': '2025-06-18' };
    const attempts: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [url, { ...bob, 'mcp-session-id': id }],
      [url, { ...KEY, 'mcp-session-id': id }],
      [url, { ...alice, 'mcp-session-id': id.slice(0, 36) }],
      [url, { ...alice, 'mcp-session-id': id.slice(0, -1) }],
      [elsewhere.url, { ...alice, 'mcp-session-id': id }],
    ];
    for (const [target, headers] of attempts) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const body = method === 'POST' ? JSON.stringify(CALL) : '';
        const answer = await send(target, { method, headers: { ...ACCEPT, ...version, ...headers }, body });
        expect([method, answer.status, codeOf(answer)]).toEqual([method, 404, 'not_found']);
      }
    }
    expect(raw.received).toEqual([]);
    expect((await post(url, { ...alice, ...version, 'mcp-session-id': id })).status).toBe(200);
    await close();
  });

  it.each(['', '  '])('ignores an empty session id in both directions: %j', async (nothing) => {
    const { url } = await register(raw.endpoint);
    raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }, 200, { 'mcp-session-id': nothing }));
    const begun = await post(url, KEY);
    expect([begun.status, begun.headers['mcp-session-id']]).toEqual([200, undefined]);
    const next = await post(url, { ...KEY, 'mcp-session-id': nothing });
    expect([next.status, received('mcp-session-id')]).toEqual([200, []]);
  });

  it('omits the session id from the first protocol revision without sessions', async () => {
    const { url } = await register(raw.endpoint);
    raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }, 200, { 'mcp-session-id': 'session-1' }));
    const id = String((await post(url, alice)).headers['mcp-session-id']);
    const passed: Record<string, readonly string[]> = {};
    for (const revision of ['2025-11-25', 'DRAFT-2025-v3', 'foo', '2026-07-28', '2027-01-01']) {
      raw.forget();
      const headers = { ...alice, 'mcp-session-id': id, 'mcp-protocol-version': revision };
      expect((await post(url, headers)).status).toBe(200);
      passed[revision] = received('mcp-session-id');
    }
    expect(passed).toEqual({
      '2025-11-25': ['session-1'],
      'DRAFT-2025-v3': ['session-1'],
      foo: ['session-1'],
      '2026-07-28': [],
      '2027-01-01': [],
    });
    const stolen = { ...bob, 'mcp-session-id': id, 'mcp-protocol-version': 'foo' };
    expect((await post(url, stolen)).status).toBe(404);
  });

  it('binds session ids and SSE message addresses of up to 4,096 characters', async () => {
    const { url } = await register(raw.endpoint);
    const id = 'x'.repeat(4_096);
    raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }, 200, { 'mcp-session-id': id }));
    const bound = String((await post(url, alice)).headers['mcp-session-id']);
    expect((await post(url, { ...alice, 'mcp-session-id': bound })).status).toBe(200);
    expect(received('mcp-session-id')).toEqual([id]);
    expect((await post(url, { ...bob, 'mcp-session-id': bound })).status).toBe(404);

    const { slug } = await register(raw.endpoint, { transport: 'sse' });
    const address = '/messages?token='.padEnd(4_096, 'x');
    raw.answerWith(events([`event: endpoint\ndata: ${address}\n\n`]));
    const stream = await send(`${gateway.url}/${slug}/sse`, { method: 'GET', headers: alice });
    const endpoint = gateway.url + (/data: (\S+)/.exec(stream.text)?.[1] ?? '');
    raw.answerWith(plain(202));
    expect((await post(endpoint, alice)).status).toBe(202);
    expect(raw.received.at(-1)?.path).toBe(address);
    expect((await post(endpoint, bob)).status).toBe(404);
  });

  it.each([
    ['a space in it', 'a b'],
    ['a letter that is not ASCII', 'é'],
    ['4,097 characters', 'x'.repeat(4_097)],
  ])('returns 502 when the session id cannot be forwarded: %s', async (_what, id) => {
    const { url } = await register(raw.endpoint);
    raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }, 200, { 'mcp-session-id': id }));
    const answer = await post(url, KEY);
    expect([answer.status, codeOf(answer)]).toEqual([502, 'provider_invalid_response']);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  });
});

describe('a disabled tool', () => {
  it('removes a disabled tool from lists and refuses its calls in every spelling', async () => {
    const { url, path, slug } = await register(sdk.endpoint);
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    const { client, sessionId, close } = await connectClient(url, KEY);
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(names).toContain('progress');
    expect(names).not.toContain('echo');
    await expect(callTool(client, 'echo', { text: 'x' })).rejects.toThrow('Unknown tool: echo');
    expect(await callTool(client, 'progress')).toBe('done');
    const headers = { ...ACCEPT, ...KEY, 'mcp-session-id': sessionId(), 'mcp-protocol-version': '2025-06-18' };
    const sneaky = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","name":"echo"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"echo","name":"progress"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"echo"}}',
      '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}]',
      '{"jsonrpc":"2.0","id":1,"m\\u0065thod":"tools/call","params":{"name":"echo"}}',
    ];
    for (const body of sneaky) {
      const answer = await send(url, { headers, body });
      expect(answer.text).toMatch(/"code":"(?:permission_denied|validation_failed)"/);
    }
    expect(
      (await send(url, { headers: { ...headers, 'content-type': 'text/plain' }, body: JSON.stringify(CALL) })).status,
    ).toBe(415);
    await close();
    const rows = (await rowsOf(slug)).filter(({ tool }) => tool === 'echo');
    expect(rows.map(({ errorCode }) => errorCode)).toContain('permission_denied');
  });
});

describe('a caller of an MCP server', () => {
  it('returns the same challenge without credentials whether the server exists or not', async () => {
    const { url } = await register(raw.endpoint);
    const answers = [await post(url, {}), await post(`${gateway.url}/no-such-server/mcp`, {})];
    for (const answer of answers) {
      expect([answer.status, codeOf(answer)]).toEqual([401, 'api_key_invalid']);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    }
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(raw.received).toEqual([]);
  });

  it('refers a caller without a valid key to the identity provider that the server advertises', async () => {
    const issuer = 'https://idp.example.com/';
    const { url, slug } = await register(raw.endpoint, {
      jwt_validation: { jwksUri: 'https://idp.example.com/jwks', issuer, advertise_issuer: true },
    });
    const origin = gateway.url.replace('127.0.0.1', 'localhost');
    const metadata = `${origin}/.well-known/oauth-protected-resource/${slug}/mcp`;
    const presented: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'x-gateway-api-key': 'tg_wrong' },
      { 'x-forwarded-host': 'evil.example.com' },
    ];
    for (const headers of presented) {
      const answer = await post(url, headers);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain(`resource_metadata="${metadata}"`);
    }
    const page = await send(metadata.replace('localhost', '127.0.0.1'), { method: 'GET' });
    expect(jsonOf(page)).toEqual({
      resource: `${origin}/${slug}/mcp`,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    });
    expect(page.headers['access-control-allow-origin']).toBe('*');
  });

  it("requires the scope mcp.invoke and a server of the caller's tenant", async () => {
    const { url } = await register(raw.endpoint);
    const { key } = await admin.createKey({ scopes: ['mcp_servers.read'] });
    const answer = await post(url, { 'x-gateway-api-key': key });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'permission_denied']);
    const missing = await post(`${gateway.url}/no-such-server/mcp`, KEY);
    expect([missing.status, codeOf(missing)]).toEqual([404, 'not_found']);
    expect(jsonOf(missing)).toMatchObject({ jsonrpc: '2.0', id: null });
    expect(raw.received).toEqual([]);
  });

  it('returns 404 for a server that is not enabled', async () => {
    const { url, path } = await register(raw.endpoint);
    expect((await post(url, KEY)).status).toBe(200);
    await admin.patch(path, { enabled: false });
    expect((await post(url, KEY)).status).toBe(404);
  });

  it('allows browsers only from the allowed origins of the server', async () => {
    const origin = 'https://app.example.com';
    const jwt_validation = {
      jwksUri: 'https://login.example.com/jwks',
      requiredClaims: ['sub'],
      header_key: 'X-Id-Token',
    };
    const { url } = await register(raw.endpoint, { allowed_origins: [origin], jwt_validation });
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'mcp-param-x, authorization',
    };
    const allowed = await send(url, { method: 'OPTIONS', headers: { origin, ...preflight } });
    expect(allowed.status).toBe(204);
    expect(allowed.headers['access-control-allow-origin']).toBe(origin);
    expect(allowed.headers['access-control-allow-headers']).toContain('mcp-param-x');
    expect(allowed.headers['access-control-allow-headers']).toContain('mcp-protocol-version');
    expect(allowed.headers['access-control-allow-headers']).toContain('x-id-token');
    const unauthorised = await post(url, { origin });
    expect([unauthorised.status, unauthorised.headers['access-control-allow-origin']]).toEqual([401, origin]);
    for (const bad of ['https://evil.example.com', 'null']) {
      expect((await send(url, { method: 'OPTIONS', headers: { origin: bad, ...preflight } })).status).toBe(403);
      expect((await post(url, { ...KEY, origin: bad })).status).toBe(403);
    }
    expect((await post(url, { ...KEY, host: 'evil.example.com' })).status).toBe(403);
    expect(raw.received).toEqual([]);
    expect((await post(url, { ...KEY, origin })).status).toBe(200);
    expect(received('origin')).toEqual([]);
  });
});

describe('the addresses of the gateway itself', () => {
  it("never resolves the gateway's own addresses to an MCP server", async () => {
    for (const path of ['/v1/mcp', '/docs/mcp', '/v1/anything/mcp', '/V1/x/sse', '/.well-known/x/mcp']) {
      const answer = await send(gateway.url + path, { method: 'GET', headers: KEY });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    const workspace = await admin.create('/v1/workspaces', { name: 'mcp', slug: 'mcp' });
    expect(await admin.read('/v1/workspaces/mcp')).toMatchObject({ id: workspace['id'] });
  });

  it('returns 405 for methods that a server address does not allow', async () => {
    const { url } = await register(raw.endpoint);
    const answer = await send(url, { method: 'PUT', headers: KEY });
    expect(answer.status).toBe(405);
    expect((await send(url, { method: 'HEAD', headers: KEY })).status).toBe(405);
    expect(raw.received).toEqual([]);
  });
});

describe('a call through the gateway', () => {
  it('records user, tool and duration of a call, and no arguments', async () => {
    const { url, slug } = await register(raw.endpoint);
    const trace = `trace-${randomUUID()}`;
    await post(url, { ...alice, 'x-gateway-trace-id': trace });
    const [row, ...others] = await rowsOf(slug);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      serverSlug: slug,
      callerType: 'api_key',
      userId: 'alice',
      httpMethod: 'POST',
      rpcMethod: 'tools/call',
      tool: 'echo',
      status: 200,
      errorCode: null,
      traceId: trace,
      bytesIn: String(JSON.stringify(CALL).length),
    });
    expect(JSON.stringify(row)).not.toContain('hello');
    expect(received('x-gateway-trace-id')).toEqual([trace]);
    const [shown] = await admin.list(`/v1/mcp-servers/${slug}/calls`);
    expect(shown).toMatchObject({ object: 'mcp-call', user_id: 'alice', tool: 'echo', status: 200, trace_id: trace });
    const { text } = await send(`${gateway.url}/metrics`, { method: 'GET' });
    expect(text).toContain(
      `gateway_mcp_requests_total{server="${slug}",method="tools/call",status="200",outcome="ok"} 1`,
    );
  });

  it('reports calls by server and tool at no cost, and omits refused requests', async () => {
    const { url, slug } = await register(raw.endpoint);
    await post(url, alice);
    await post(url, { 'x-gateway-api-key': 'nobody' });
    const query = `/v1/usage?group_by=mcp_server,mcp_tool&bucket=none&mcp_server=${slug}`;
    await eventually(async () => (await admin.list(query)).length === 1);
    expect(await admin.list(query)).toMatchObject([
      { group: { mcp_server: slug, mcp_tool: 'echo' }, calls: 1, cost: 0, tokens: 0 },
    ]);
  });

  it('records a call with unusual characters in the tool name', async () => {
    const { url, slug } = await register(raw.endpoint);
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `\u0000${'x'.repeat(300)}\ud800` } };
    await post(url, KEY, body);
    const [row] = await rowsOf(slug);
    expect(row?.tool).toHaveLength(255);
  });

  it('returns the reason when the server refuses the gateway, redirects or is down', async () => {
    const { url } = await register(raw.endpoint, { headers: { authorization: 'Bearer upstream-secret-0123' } });
    raw.answerWith(plain(401, { 'www-authenticate': 'Bearer resource_metadata="https://elsewhere.example.com"' }));
    const rejected = await post(url, KEY);
    expect([rejected.status, codeOf(rejected)]).toEqual([502, 'provider_credential_rejected']);
    expect(rejected.headers['www-authenticate']).toBeUndefined();
    expect(received('authorization')).toEqual(['Bearer upstream-secret-0123']);
    raw.answerWith(plain(302, { location: 'https://elsewhere.example.com' }));
    expect((await post(url, KEY)).status).toBe(502);
    const { url: nowhere } = await register(new URL('http://127.0.0.1:1/mcp'));
    const answer = await post(nowhere, KEY);
    expect([answer.status, codeOf(answer)]).toEqual([502, 'provider_failed']);
    expect(answer.text).not.toContain('upstream-secret');
  });
});

describe('an id that JavaScript would round', () => {
  const LONG = '9007199254740993';

  it.each([
    ['a tool that is off', 200, { params: { name: 'echo' } }, {}],
    ['headers that say something else', 400, {}, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' }],
    ['a server that fails', 502, {}, {}],
  ])('returns a large request id unchanged in the refusal of %s', async (_what, status, fields, headers) => {
    raw.answerWith(plain(302, { location: 'https://elsewhere.example.com' }));
    const { url, path } = await register(raw.endpoint);
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    const message = JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'other' }, ...fields });
    const body = `{"id":${LONG},${message.slice(1)}`;
    const answer = await send(url, { headers: { ...ACCEPT, ...KEY, ...headers }, body });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(`"id":${LONG},`)]);
  });
});

describe('administration of MCP servers', () => {
  it.each(['streamable_http', 'sse'] as const)('tests a server over %s and shows its tools', async (transport) => {
    const { path } = await register(transport === 'sse' ? legacy.endpoint : sdk.endpoint, { ...JWT, transport });
    const sessions = sdk.sessions.size;
    const result = jsonOf(await admin.post(`${path}/test`));
    expect(result).toMatchObject({ ok: true, latency_ms: expect.any(Number), server: { version: '1.0.0' } });
    expect(result).toMatchObject({ protocol_version: '2025-11-25' });
    expect(sdk.sessions.size).toBe(sessions);
    const tools = await admin.list(`${path}/tools`);
    expect(tools).toHaveLength(Number(result['tools']));
    const input_schema = expect.objectContaining({ type: 'object' });
    const seen = { seen_at: expect.any(Number), hash: expect.any(String), input_schema, changed_at: null, held: false };
    expect(tools).toContainEqual({ name: 'echo', enabled: true, description: null, ...seen });
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    await admin.post(`${path}/test`);
    expect(await admin.list(`${path}/tools`)).toContainEqual(expect.objectContaining({ name: 'echo', enabled: false }));
  });

  it.each([
    [401, 'provider_credential_rejected', 'http_401'],
    [500, 'provider_failed', 'http_500'],
    [302, 'provider_failed', 'redirect'],
  ])('reports in the server test that the server answers %i', async (status, error, reason) => {
    const { path } = await register(raw.endpoint, { headers: { 'x-key': 'static-secret-0123456789' } });
    raw.answerWith(plain(status, { location: 'https://elsewhere.example.com/' }));
    const failed = { ok: false, latency_ms: expect.any(Number), error, reason };
    expect(jsonOf(await admin.post(`${path}/test`))).toEqual(failed);
    expect(received('x-key')).toEqual(['static-secret-0123456789']);
  });

  it('previews the headers of a server without their secrets', async () => {
    const { path } = await register(raw.endpoint, {
      ...JWT,
      headers: { Authorization: 'Bearer upstream-secret-0123' },
      forward_headers: { mode: 'allowlist', headers: ['x-tenant'] },
    });
    const { key } = await admin.createKey({ scopes: ['mcp_servers.read'], type: 'user', user: ALICE });
    const headers = { 'x-gateway-api-key': key, 'x-tenant': 'acme', 'x-user-jwt': 'forged', 'x-other': 'no' };
    const answer = await send(`${gateway.url}${path}/preview-headers`, { headers });
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({
      object: 'mcp-headers-preview',
      headers: { authorization: '****0123', 'x-tenant': 'acme', 'x-user-jwt': expect.stringMatching(/^\*{4}.{4}$/) },
      identity: { header_name: 'X-User-JWT', claims: { sub: 'alice', iss: 'service-mcp-gateway' } },
    });
    for (const hidden of ['upstream-secret', 'forged', 'x-other', key]) expect(answer.text).not.toContain(hidden);
  });
});

/** The status of a POST whose request line has this target. */
function statusOfTarget(target: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((done, fail) => {
    const sent = { 'content-type': 'application/json', ...headers };
    const call = request({ hostname, port, method: 'POST', path: target, headers: sent }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    call.once('error', fail).end('{}');
  });
}
