// The official client logs in by itself, from the first 401 to a tool call, with a real authorization server and with
// a proxy before the gateway whose headers must not be trusted.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { readString } from '../src/common/json/read.js';
import { type AuthorizationServer, startAuthorizationServer } from './support/authorization-server.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { type HttpFront, startFront } from './support/http-front.js';
import { callTool } from './support/mcp-client.js';
import { MemoryOAuthClient } from './support/mcp-oauth-client.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const METADATA = '/.well-known/oauth-protected-resource';
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
/** Headers that a proxy, or a client that imitates one, may add. */
const MISLEADING = {
  'x-forwarded-host': 'evil.example.com',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '1',
  'x-forwarded-prefix': '/elsewhere',
  'x-original-url': '/other/mcp',
  forwarded: 'host=evil.example.com;proto=https',
};

let front: HttpFront;
let gateway: TestApp;
let server: McpSdkServer;
let authorization: AuthorizationServer;
/** Addresses as a user types them. */
let typed: URL;
let typedOther: URL;
const clients: Client[] = [];

beforeAll(async () => {
  [front, server] = await Promise.all([startFront(MISLEADING), startMcpServer()]);
  // The organisation of the first start is known only later; the authorization server names it in its tokens.
  gateway = await startTestApp({ JWT_PRIVATE_KEY: PEM });
  const { organisation_id } = await new GatewayClient(gateway.url).read('/v1/workspaces/default');
  await gateway.close();
  authorization = await startAuthorizationServer('alice', readString(organisation_id, 'organisation_id'));
  gateway = await startTestApp(
    {
      JWT_PRIVATE_KEY: PEM,
      MCP_PUBLIC_URL: front.origin,
      MCP_OAUTH_ISSUER: authorization.issuer,
      MCP_OAUTH_JWKS_URI: authorization.jwksUri,
      MCP_OAUTH_SCOPES: 'mcp.invoke,mcp.admin',
    },
    true,
  );
  front.sendTo(gateway.url);
  const admin = new GatewayClient(gateway.url);
  const fields = { url: server.endpoint.href, user_identity_forwarding: { method: 'jwt_header' } };
  for (const slug of ['tools', 'others']) await admin.create('/v1/mcp-servers', { name: slug, slug, ...fields });
  typed = new URL('/tools/mcp', front.origin);
  typedOther = new URL('/others/mcp', front.origin);
});

beforeEach(() => {
  authorization.tokensLive(3_600);
  authorization.usersGrant(['mcp.invoke', 'mcp.admin']);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([front.close(), server.close(), authorization.close()]);
});

/** Connects; throws for a client that has to log in first. */
async function connect(oauth: MemoryOAuthClient, url = typed): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  const streams = reached('GET');
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: oauth }));
  // The client opens the stream asynchronously. A late one would use the tokens of a later step.
  await eventually(() => reached('GET') > streams);
  return client;
}

/** The refusal that sends the user to the login, then the login, then the connection. */
async function logIn(oauth: MemoryOAuthClient, url = typed): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: oauth });
  const refused = new Client({ name: 'test', version: '1.0.0' }).connect(transport);
  await expect(refused).rejects.toThrow(UnauthorizedError);
  await transport.finishAuth(await oauth.logIn());
  return connect(oauth, url);
}

/** Claims of the last forwarded identity, verified with the keys that the gateway publishes. */
async function lastIdentity(): Promise<JWTPayload> {
  const token = server.requests.at(-1)?.headers['x-user-jwt'];
  const keys = createRemoteJWKSet(new URL(`${gateway.url}/.well-known/jwks.json`));
  return (await jwtVerify(String(token), keys, { issuer: 'service-mcp-gateway', algorithms: ['RS256'] })).payload;
}

/** The number of requests that reached the server. */
const reached = (method = 'POST'): number => server.requests.filter((request) => request.method === method).length;

const post = (url: URL, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  send(url.href, {
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: CALL,
  });

const bearing = (oauth: MemoryOAuthClient): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${oauth.stored?.access_token}`,
});

describe('a client without credentials', () => {
  it('leads a client without credentials to the login and forwards its user', async () => {
    const before = authorization.requests.length;
    const oauth = new MemoryOAuthClient();
    const client = await logIn(oauth);
    expect(await callTool(client, 'echo', { text: 'hello' })).toBe('hello');
    expect(await lastIdentity()).toMatchObject({ sub: 'alice', client_id: oauth.information?.client_id });
    const { aud, iss, scope } = decodeJwt(oauth.stored?.access_token ?? '');
    expect({ aud, iss, scope }).toEqual({ aud: typed.href, iss: authorization.issuer, scope: 'mcp.invoke mcp.admin' });
    const steps = authorization.requests.slice(before).map((line) => line.split('?')[0]);
    expect(steps.filter((line) => !/interaction|\/auth\//.test(line ?? ''))).toEqual([
      'GET /.well-known/oauth-authorization-server',
      'POST /reg',
      'GET /auth',
      // Each transport discovers the authorization server by itself.
      'GET /.well-known/oauth-authorization-server',
      'POST /token',
      'GET /jwks',
    ]);
  });

  it('requests a token for the typed address, whatever proxy headers say', async () => {
    const oauth = new MemoryOAuthClient();
    await logIn(oauth);
    const [asked] = oauth.authorizations;
    expect(asked?.searchParams.get('resource')).toBe(typed.href);
    expect(asked?.searchParams.get('code_challenge_method')).toBe('S256');
    expect(asked?.searchParams.get('scope')).toBe('mcp.invoke mcp.admin');
    const challenge = (await post(typed)).headers['www-authenticate'];
    expect(challenge).toBe(
      `Bearer resource_metadata="${front.origin}${METADATA}/tools/mcp", scope="mcp.invoke mcp.admin"`,
    );
    const metadata = jsonOf(await send(`${front.origin}${METADATA}/tools/mcp`, { method: 'GET' }));
    expect(metadata).toMatchObject({ resource: typed.href, authorization_servers: [authorization.issuer] });
    expect(JSON.stringify(metadata) + challenge).not.toMatch(/evil|gopher|elsewhere/);
  });

  it('answers for a server that does not exist as for one that does', async () => {
    const url = new URL('/nothing/mcp', front.origin);
    expect((await post(url)).headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${front.origin}${METADATA}/nothing/mcp", scope="mcp.invoke mcp.admin"`,
    );
    expect((await send(`${front.origin}${METADATA}/nothing/mcp`, { method: 'GET' })).status).toBe(200);
  });
});

describe('a token from the login', () => {
  it('refuses a token at another server, where the client logs in again', async () => {
    const oauth = new MemoryOAuthClient(['authorization_code']);
    await logIn(oauth);
    const before = reached();
    const answer = await post(typedOther, bearing(oauth));
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(answer.headers['www-authenticate']).toContain(`${front.origin}${METADATA}/others/mcp`);
    expect(reached()).toBe(before);
    const client = await logIn(oauth, typedOther);
    expect(await callTool(client, 'echo', { text: 'there' })).toBe('there');
    expect(decodeJwt(oauth.stored?.access_token ?? '').aud).toBe(typedOther.href);
  });

  it('names all scopes when a token grants too few, so that the client asks for them', async () => {
    authorization.usersGrant(['mcp.invoke']);
    const oauth = new MemoryOAuthClient(['authorization_code']);
    const before = reached();
    await expect(logIn(oauth)).rejects.toThrow(UnauthorizedError);
    expect(decodeJwt(oauth.stored?.access_token ?? '')['scope']).toBe('mcp.invoke');
    const answer = await post(typed, bearing(oauth));
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${front.origin}${METADATA}/tools/mcp", error="insufficient_scope", ` +
        'scope="mcp.invoke mcp.admin"',
    );
    expect(reached()).toBe(before);
    expect(oauth.authorizations).toHaveLength(2);
    authorization.usersGrant(['mcp.invoke', 'mcp.admin']);
    expect(await callTool(await logIn(oauth), 'echo', { text: 'more' })).toBe('more');
  });

  it('does not accept a refreshed token that still grants too few scopes', async () => {
    authorization.usersGrant(['mcp.invoke']);
    const oauth = new MemoryOAuthClient();
    await expect(logIn(oauth)).rejects.toThrow('403 after trying upscoping');
    expect(oauth.authorizations).toHaveLength(1);
    expect(decodeJwt(oauth.stored?.access_token ?? '')['scope']).toBe('mcp.invoke');
  });

  it('lets the client refresh an expired token without the user', async () => {
    authorization.tokensLive(60);
    const oauth = new MemoryOAuthClient();
    const client = await logIn(oauth);
    const { access_token: first } = oauth.stored ?? {};
    authorization.tokensLive(3_600);
    gateway.clock.advance(120_000);
    const expired = await post(typed, bearing(oauth));
    expect(expired.status).toBe(401);
    expect(expired.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(await callTool(client, 'echo', { text: 'still here' })).toBe('still here');
    expect(oauth.stored?.access_token).not.toBe(first);
    expect(oauth.authorizations).toHaveLength(1);
    expect(await lastIdentity()).toMatchObject({ sub: 'alice' });
  });

  it('sends the user to the login again when the token cannot be refreshed', async () => {
    const oauth = new MemoryOAuthClient();
    const client = await logIn(oauth);
    oauth.stored = { ...oauth.stored, access_token: 'junk', token_type: 'Bearer', refresh_token: 'withdrawn' };
    const before = reached();
    await expect(callTool(client, 'echo', { text: 'no' })).rejects.toThrow(UnauthorizedError);
    expect(oauth.authorizations).toHaveLength(2);
    expect(reached()).toBe(before);
    expect(gateway.log()).not.toContain('junk');
  });

  it("checks the user's token even beside a valid gateway key", async () => {
    const oauth = new MemoryOAuthClient();
    await logIn(oauth);
    const key = { 'x-gateway-api-key': ADMIN_KEY };
    expect((await post(typedOther, { ...key, ...bearing(oauth) })).status).toBe(401);
    expect((await post(typed, { ...key, authorization: 'Bearer junk' })).status).toBe(401);
    expect(gateway.log()).not.toContain(oauth.stored?.access_token);
  });
});

describe('a server that gets the own tokens of users', () => {
  /** Registers a server whose rules accept tokens of the gateway's authorization server, and logs in for its address. */
  async function logInAt(slug: string, rules: object, forwarding: object = {}): Promise<MemoryOAuthClient> {
    const jwt_validation = { jwksUri: authorization.jwksUri, ...rules };
    const fields = { name: slug, slug, url: server.endpoint.href, jwt_validation };
    await new GatewayClient(gateway.url).create('/v1/mcp-servers', {
      ...fields,
      user_identity_forwarding: { method: 'bearer', ...forwarding },
    });
    const oauth = new MemoryOAuthClient();
    const transport = new StreamableHTTPClientTransport(new URL(`/${slug}/mcp`, front.origin), { authProvider: oauth });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError);
    await transport.finishAuth(await oauth.logIn());
    expect(decodeJwt(oauth.stored?.access_token ?? '').aud).toBe(`${front.origin}/${slug}/mcp`);
    return oauth;
  }

  it.each<readonly [string, () => object]>([
    ['another provider', () => ({ issuer: 'https://login.example.com' })],
    ['the same provider', () => ({ issuer: authorization.issuer })],
    ['every issuer with its keys', () => ({})],
  ])('is not called with a token for the gateway, where it trusts %s', async (what, rules) => {
    const slug = what.replaceAll(' ', '-');
    const oauth = await logInAt(slug, rules());
    const before = server.requests.length;
    const refused = await post(new URL(`/${slug}/mcp`, front.origin), bearing(oauth));
    expect([refused.status, jsonOf(refused)]).toMatchObject([
      502,
      { error: { data: { code: 'identity_forwarding_failed' } } },
    ]);
    expect(server.requests).toHaveLength(before);
    const user_identity_forwarding = { method: 'bearer', allow_anonymous: true };
    await new GatewayClient(gateway.url).patch(`/v1/mcp-servers/${slug}`, { user_identity_forwarding });
    await post(new URL(`/${slug}/mcp`, front.origin), bearing(oauth));
    expect(server.requests).toHaveLength(before + 1);
    expect(server.requests.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it('gets a token whose audience its rules name', async () => {
    const oauth = await logInAt('named', { issuer: authorization.issuer, audience: `${front.origin}/named/mcp` });
    await post(new URL('/named/mcp', front.origin), bearing(oauth));
    expect(server.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${oauth.stored?.access_token}`);
  });
});
