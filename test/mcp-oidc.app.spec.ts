// Users with tokens of a real OpenID Connect provider, over HTTP through the whole gateway.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { McpCall } from '../src/mcp/calls/mcp-call.entity.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { AUDIENCE, type IdentityProvider, OTHER_AUDIENCE, startIdentityProvider } from './support/identity-provider.js';
import { json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ORIGIN = 'https://mcp.example.com';
const HEADERS = {
  host: 'mcp.example.com',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const SCOPES = ['mcp.invoke'];

let gateway: TestApp;
let provider: IdentityProvider;
let server: RawMcpServer;
let organisationId: string;

beforeAll(async () => {
  [provider, server] = await Promise.all([startIdentityProvider(), startRawMcpServer()]);
  gateway = await startTestApp({
    JWT_PRIVATE_KEY: PEM,
    MCP_PUBLIC_URL: ORIGIN,
    MCP_OAUTH_ISSUER: provider.issuer,
    MCP_OAUTH_JWKS_URI: provider.jwksUri,
    MCP_OAUTH_SCOPES: 'mcp.invoke',
  });
  const admin = new GatewayClient(gateway.url);
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
  const jwt_validation = {
    jwksUri: provider.jwksUri,
    requiredClaims: ['sub', 'exp'],
    issuer: provider.issuer,
    audience: AUDIENCE,
  };
  const url = server.endpoint.href;
  for (const [slug, method] of [
    ['bearer', 'bearer'],
    ['signed', 'jwt_header'],
  ]) {
    await admin.create('/v1/mcp-servers', {
      name: slug,
      slug,
      url,
      jwt_validation,
      user_identity_forwarding: { method },
    });
  }
  const anonymous = { jwt_validation, user_identity_forwarding: { method: 'bearer', allow_anonymous: true } };
  await admin.create('/v1/mcp-servers', { name: 'anonymous', slug: 'anonymous', url, ...anonymous });
  const forwarding = { user_identity_forwarding: { method: 'jwt_header' } };
  await admin.create('/v1/mcp-servers', { name: 'granted', slug: 'granted', url, ...forwarding });
});

afterEach(() => {
  server.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  server.forget();
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([provider.close(), server.close()]);
});

function post(slug: string, headers: Readonly<Record<string, string>>, body = CALL): Promise<Answer> {
  return send(`${gateway.url}/${slug}/mcp`, { headers: { ...HEADERS, ...headers }, body });
}

/** The log line of a request, found by its trace id. */
function logged(traceId: string): JsonObject | undefined {
  const line = gateway
    .log()
    .split('\n')
    .find((text) => text.includes(`"trace_id":"${traceId}"`));
  return line === undefined ? undefined : JSON.parse(line);
}

const bearing = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

function received(name: string): readonly string[] {
  return server.received.flatMap(({ rawHeaders }) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name),
  );
}

describe("a token of the company's identity provider", () => {
  it("forwards the user's token unchanged, and never the gateway key", async () => {
    const token = await provider.tokenFor({ scopes: SCOPES });
    expect((await post('bearer', bearing(token))).status).toBe(200);
    expect(received('authorization')).toEqual([`Bearer ${token}`]);
    server.forget();
    expect((await post('bearer', { ...bearing(token), 'x-gateway-api-key': ADMIN_KEY })).status).toBe(200);
    expect(received('authorization')).toEqual([`Bearer ${token}`]);
    server.forget();
    for (const headers of [{ 'x-gateway-api-key': ADMIN_KEY }, bearing(ADMIN_KEY)]) {
      expect((await post('bearer', headers)).status).toBe(502);
      expect((await post('anonymous', headers)).status).toBe(200);
    }
    expect(server.received).toHaveLength(2);
    expect(JSON.stringify(server.received.map(({ rawHeaders }) => rawHeaders))).not.toContain(ADMIN_KEY);
    expect(received('authorization')).toEqual([]);
  });

  it('never calls a server that wants the token of a user with a token for the gateway instead', async () => {
    const rules = { jwksUri: provider.jwksUri, issuer: 'https://login.company.example.com' };
    const body = { name: 'company', slug: 'company', url: server.endpoint.href, jwt_validation: rules };
    const admin = new GatewayClient(gateway.url);
    await admin.create('/v1/mcp-servers', { ...body, user_identity_forwarding: { method: 'bearer' } });
    const token = await provider.tokenFor({ scopes: SCOPES, audience: `${ORIGIN}/company/mcp`, organisationId });
    const answer = await post('company', { ...bearing(token), 'x-gateway-trace-id': 'no-token' });
    expect(answer.status).toBe(502);
    expect(answer.text).toContain('"code":"identity_forwarding_failed"');
    expect(server.received).toEqual([]);
    await eventually(() => logged('no-token') !== undefined);
    expect(logged('no-token')).toMatchObject({ error_reason: expect.stringContaining('no_token: ') });
    const tested = jsonOf(await admin.post('/v1/mcp-servers/company/test'));
    expect(tested).toMatchObject({ ok: false, hint: expect.stringContaining('allow_anonymous') });
    const user_identity_forwarding = { method: 'bearer', allow_anonymous: true };
    expect((await admin.patch('/v1/mcp-servers/company', { user_identity_forwarding })).status).toBe(200);
    expect((await post('company', bearing(token))).status).toBe(200);
    expect(received('authorization')).toEqual([]);
  });

  it('requires the token of a user where jwt_validation says so, in calls, tests and previews', async () => {
    const admin = new GatewayClient(gateway.url);
    const jwt_validation = { jwksUri: provider.jwksUri, issuer: provider.issuer, audience: AUDIENCE, required: true };
    const user_identity_forwarding = { method: 'jwt_header', jwt_audience: true };
    const body = { name: 'strict', slug: 'strict', url: `${server.endpoint.href}?strict`, jwt_validation };
    await admin.create('/v1/mcp-servers', { ...body, user_identity_forwarding });
    const alone = await post('strict', { 'x-gateway-api-key': ADMIN_KEY });
    expect([alone.status, alone.headers['www-authenticate']]).toEqual([401, expect.stringContaining('/strict/mcp')]);
    const path = '/v1/mcp-servers/strict';
    const hint = expect.stringMatching(/jwt_validation\.required.*x-gateway-api-key.*Authorization: Bearer/);
    expect(jsonOf(await admin.post(`${path}/test`))).toMatchObject({ ok: false, error: 'token_invalid', hint });
    const preview = await admin.post(`${path}/preview-headers`);
    expect([preview.status, jsonOf(preview)]).toMatchObject([401, { error: { message: hint } }]);
    const other = bearing(await provider.tokenFor({ scopes: SCOPES, audience: OTHER_AUDIENCE }));
    const refused = await admin.request('POST', `${path}/test`, undefined, other);
    expect(jsonOf(refused)).toMatchObject({
      ok: false,
      error: 'token_invalid',
      hint: expect.stringMatching(/audience/),
    });
    expect(server.received).toEqual([]);
    const token = bearing(await provider.tokenFor({ scopes: SCOPES }));
    expect((await post('strict', { ...token, 'x-gateway-api-key': ADMIN_KEY })).status).toBe(200);
    expect(decodeJwt(received('x-user-jwt')[0] ?? '')).toMatchObject({
      aud: body.url,
      org: organisationId,
      auth_method: 'external_idp',
    });
    const shown = await admin.request('POST', `${path}/preview-headers`, undefined, token);
    expect(jsonOf(shown)).toMatchObject({ identity: { claims: { sub: 'terraform', aud: body.url } } });
  });

  it("replaces the user's token with a gateway token, and ignores its organisation claim", async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId: 'evil' });
    expect((await post('signed', bearing(token))).status).toBe(200);
    expect(received('authorization')).toEqual([]);
    expect(decodeJwt(received('x-user-jwt')[0] ?? '')).toMatchObject({
      iss: 'service-mcp-gateway',
      sub: 'terraform',
      client_id: 'terraform',
      organisation_id: organisationId,
    });
    await gateway.app.get(McpCallRecorder, { strict: false }).flush();
    const rows = await gateway.dataSource.getRepository(McpCall).findBy({ serverSlug: 'signed' });
    expect(rows).toMatchObject([{ callerType: 'external', callerId: 'terraform', userId: 'terraform' }]);
    expect(gateway.log()).not.toContain(token);
  });

  it("applies the default metadata of the server's workspace unless the request sets its own", async () => {
    const admin = new GatewayClient(gateway.url);
    const defaults = { metadata: { team: 'default', region: 'eu' } };
    const { id: workspace_id } = await admin.create('/v1/workspaces', { name: 'Defaults', defaults });
    const jwt_validation = { jwksUri: provider.jwksUri, issuer: provider.issuer, audience: AUDIENCE };
    const url = server.endpoint.href;
    await admin.create('/v1/mcp-servers', { name: 'own', slug: 'own', url, jwt_validation, workspace_id });
    const token = await provider.tokenFor({ scopes: SCOPES });
    const said = { 'x-gateway-metadata': '{"team":"mine"}', 'x-gateway-trace-id': 'own-trace' };
    expect((await post('own', { ...bearing(token), ...said })).status).toBe(200);
    await eventually(() => logged('own-trace') !== undefined);
    expect(logged('own-trace')).toMatchObject({ workspace_id, metadata: { team: 'mine', region: 'eu' } });
  });

  it('refuses a token for another audience and returns where to log in', async () => {
    const foreign = await provider.tokenFor({ scopes: SCOPES, audience: OTHER_AUDIENCE });
    for (const token of [foreign, 'junk', `${foreign.slice(0, -2)}xx`]) {
      const answer = await post('bearer', bearing(token));
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
      expect(answer.headers['www-authenticate']).toContain(
        `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/bearer/mcp"`,
      );
    }
    expect((await post('bearer', { ...bearing(foreign), 'x-gateway-api-key': ADMIN_KEY })).status).toBe(401);
    expect(server.received).toEqual([]);
  });

  it("replaces the server's challenge with the gateway's own challenge", async () => {
    const token = await provider.tokenFor({ scopes: SCOPES });
    server.answerWith(plain(401, { 'www-authenticate': 'Bearer resource_metadata="https://elsewhere.example.com"' }));
    const answer = await post('bearer', bearing(token));
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain(`${ORIGIN}/.well-known/`);
    expect(answer.headers['www-authenticate']).not.toContain('elsewhere');
  });

  it("keeps the missing scope of the server's challenge beside the gateway's metadata", async () => {
    const token = await provider.tokenFor({ scopes: SCOPES });
    const asked = 'error="insufficient_scope", scope="files:write"';
    const own = `Bearer ${asked}, resource_metadata="https://elsewhere.example.com"`;
    server.answerWith(plain(403, { 'www-authenticate': own }));
    const answer = await post('bearer', bearing(token));
    const metadata = `${ORIGIN}/.well-known/oauth-protected-resource/bearer/mcp`;
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      403,
      `Bearer resource_metadata="${metadata}", ${asked}`,
    ]);
  });
});

describe('the audience of signed identities', () => {
  it('belongs to one server of the gateway, in whatever organisation', async () => {
    const admin = new GatewayClient(gateway.url);
    const { client: stranger } = await addTenant(gateway, 'stranger');
    const audience = 'https://tools.example.com/mcp';
    const serverOf = (name: string, url: string, forwarding: object): object => ({
      name,
      url,
      user_identity_forwarding: { method: 'jwt_header', ...forwarding },
    });
    const { id } = await admin.create('/v1/mcp-servers', serverOf('first', `${audience}/`, { jwt_audience: true }));
    const taken = [
      serverOf('by url', audience, { jwt_audience: true }),
      serverOf('by audience', server.endpoint.href, { audience: 'https://TOOLS.example.com:443/mcp/' }),
    ];
    for (const client of [admin, stranger]) {
      for (const body of taken) {
        expect(refusalOf(await client.post('/v1/mcp-servers', body))).toMatchObject({
          status: 409,
          code: 'conflict',
          param: 'user_identity_forwarding.audience',
        });
      }
    }
    const other = await stranger.create('/v1/mcp-servers', serverOf('other', audience, {}));
    const path = `/v1/mcp-servers/${String(other['id'])}`;
    const update = { user_identity_forwarding: { method: 'jwt_header', jwt_audience: true } };
    expect(refusalOf(await stranger.patch(path, update))).toMatchObject({ status: 409 });
    expect((await admin.delete(`/v1/mcp-servers/${String(id)}`)).status).toBe(204);
    expect((await stranger.patch(path, update)).status).toBe(200);
  });

  it('cannot come from the claims of a user', async () => {
    const forwarding = { method: 'jwt_header', include_claims: ['sub', 'aud'] };
    const body = { name: 'claims', url: server.endpoint.href, user_identity_forwarding: forwarding };
    expect(refusalOf(await new GatewayClient(gateway.url).post('/v1/mcp-servers', body))).toMatchObject({
      status: 400,
      param: 'user_identity_forwarding.include_claims',
    });
  });
});

describe('the usage of a user', () => {
  const TOOL_CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search' } });

  it('attributes the usage to the key beside the token, or to no key', async () => {
    const admin = new GatewayClient(gateway.url);
    const { id, key } = await admin.createKey({ scopes: ['mcp.invoke'] });
    const token = bearing(await provider.tokenFor({ scopes: SCOPES }));
    const metadata = { 'x-gateway-metadata': '{"user":"ann"}' };
    for (const headers of [
      { ...token, ...metadata },
      { ...token, 'x-gateway-api-key': key },
    ]) {
      expect((await post('signed', headers, TOOL_CALL)).status).toBe(200);
    }
    const report = '/v1/usage?bucket=none&mcp_tool=search&group_by=api_key,metadata.user';
    await eventually(async () => (await admin.list(report)).length === 2);
    expect((await admin.list(report)).map(({ group, calls }) => [group, calls])).toEqual([
      [{ api_key: id, 'metadata.user': null }, 1],
      [{ api_key: null, 'metadata.user': 'ann' }, 1],
    ]);
    // The name of a user is not the id of a key.
    expect(await admin.list(`${report}&api_key=terraform`)).toEqual([]);
  });
});

describe('a token of the authorization server', () => {
  const resource = `${ORIGIN}/granted/mcp`;

  it("accepts a token for the resource that the server's metadata name", async () => {
    const page = await send(`${gateway.url}/.well-known/oauth-protected-resource/granted/mcp`, { method: 'GET' });
    expect(jsonOf(page)).toMatchObject({ resource, authorization_servers: [provider.issuer] });
    const audience = readString(jsonOf(page)['resource'], 'resource');
    const token = await provider.tokenFor({ scopes: SCOPES, audience, organisationId });
    expect((await post('granted', bearing(token))).status).toBe(200);
    expect(received('authorization')).toEqual([]);
    expect(decodeJwt(received('x-user-jwt')[0] ?? '')).toMatchObject({ sub: 'terraform', scope: 'mcp.invoke' });
  });

  it('refuses a token for another server or another organisation', async () => {
    const elsewhere = await provider.tokenFor({ scopes: SCOPES, audience: `${ORIGIN}/signed/mcp`, organisationId });
    expect((await post('granted', bearing(elsewhere))).status).toBe(401);
    const nowhere = await provider.tokenFor({ scopes: SCOPES, audience: resource, organisationId: 'another' });
    expect((await post('granted', bearing(nowhere))).status).toBe(404);
    expect(server.received).toEqual([]);
  });
});
