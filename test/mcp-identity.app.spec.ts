// Tokens of a real OpenID Connect provider, the whole identity module, and jose as the MCP server that verifies.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { readArray, readObject, readString } from '../src/common/json/read.js';
import { GatewayError } from '../src/common/errors/gateway.error.js';
import { McpAuthentication } from '../src/identity/authenticators/mcp-authentication.js';
import type { McpCaller } from '../src/identity/claims/mcp-caller.js';
import type { JwtValidationFields, McpServerIdentity } from '../src/identity/config/identity-config.js';
import { toJwtValidation } from '../src/identity/config/to-jwt-validation.js';
import { IdentityForwarding } from '../src/identity/forwarding/identity-forwarding.js';
import { toRawHeaders } from '../src/identity/headers/raw-headers.js';
import { SessionBinding } from '../src/identity/sessions/session-binding.js';
import { GatewayClient } from './support/gateway-client.js';
import {
  AUDIENCE,
  type IdentityProvider,
  OPAQUE_AUDIENCE,
  OTHER_AUDIENCE,
  startIdentityProvider,
} from './support/identity-provider.js';
import { jsonOf } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const PEM = (): string =>
  String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
const SCOPES = ['mcp.invoke'];

let provider: IdentityProvider;
let gateway: TestApp;
let organisationId: string;
let workspaceId: string;

beforeAll(async () => {
  provider = await startIdentityProvider();
  gateway = await startTestApp({
    JWT_PRIVATE_KEY: PEM().replaceAll('\n', '\\n'),
    MCP_PUBLIC_URL: 'https://mcp.example.com',
    MCP_OAUTH_ISSUER: provider.issuer,
    MCP_OAUTH_JWKS_URI: provider.jwksUri,
    MCP_OAUTH_SCOPES: 'mcp.invoke',
  });
  const workspace = await new GatewayClient(gateway.url).read('/v1/workspaces/default');
  organisationId = readString(workspace['organisation_id'], 'organisation_id');
  workspaceId = readString(workspace['id'], 'id');
});

afterAll(async () => {
  await gateway.close();
  await provider.close();
});

function serverWith(fields?: JwtValidationFields): McpServerIdentity {
  const server = { id: 'server-1', organisationId, workspaceId, resource: 'https://mcp.example.com/search/mcp' };
  return fields === undefined ? server : { ...server, jwtValidation: toJwtValidation(fields) };
}

const company = (fields: JwtValidationFields = {}): McpServerIdentity =>
  serverWith({ jwksUri: provider.jwksUri, issuer: provider.issuer, audience: AUDIENCE, ...fields });

async function callerOf(headers: Readonly<Record<string, string>>, server: McpServerIdentity): Promise<McpCaller> {
  const request = { headers: toRawHeaders(Object.entries(headers).flat()) };
  return gateway.app.get(McpAuthentication).callerOf(request, server, gateway.clock.now());
}

async function refusalOf(token: string, server: McpServerIdentity): Promise<GatewayError> {
  const outcome: unknown = await callerOf({ authorization: `Bearer ${token}` }, server).catch(
    (error: unknown) => error,
  );
  if (outcome instanceof GatewayError) return outcome;
  throw new Error('expected a refusal', { cause: outcome });
}

describe("a token of the company's identity provider", () => {
  it("accepts a token of the server's provider, and ignores its organisation claim", async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, organisationId: 'evil' });
    const caller = await callerOf({ authorization: `Bearer ${token}` }, company({ requiredClaims: ['sub', 'scope'] }));
    expect(caller).toMatchObject({ kind: 'external', externalToken: token });
    expect(caller.claims).toMatchObject({
      sub: 'terraform',
      client_id: 'terraform',
      scope: 'mcp.invoke',
      organisation_id: organisationId,
      workspace_id: workspaceId,
    });
    expect(caller.claims).not.toHaveProperty('user_id');
  });

  it('refuses a token for another application, without a required claim or expired', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES });
    const foreign = await provider.tokenFor({ scopes: SCOPES, audience: OTHER_AUDIENCE });
    expect(await refusalOf(foreign, company())).toMatchObject({ status: 401, reason: 'audience' });
    expect(await refusalOf(token, company({ requiredClaims: ['email'] }))).toMatchObject({
      reason: 'missing_claim: email',
    });
    expect(await refusalOf(token, company({ claim_values: { sub: 'console' } }))).toMatchObject({
      reason: 'claim_value: sub',
    });
    gateway.clock.advance(306_000);
    expect(await refusalOf(token, company())).toMatchObject({ reason: 'expired' });
    gateway.clock.advance(-306_000);
  });

  it('refuses a token of an unknown identity provider', async () => {
    const stranger = await startIdentityProvider();
    const token = await stranger.tokenFor({ scopes: SCOPES });
    expect(await refusalOf(token, company())).toMatchObject({ status: 401, code: 'token_invalid' });
    await stranger.close();
  });

  it('introspects an opaque token', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES, audience: OPAQUE_AUDIENCE });
    expect(token).not.toContain('.');
    const server = serverWith({ introspection: provider.introspection, audience: OPAQUE_AUDIENCE });
    const before = provider.requests.length;
    for (let each = 0; each < 3; each += 1) {
      const caller = await callerOf({ authorization: `Bearer ${token}` }, server);
      expect(caller).toMatchObject({ kind: 'external', claims: { client_id: 'terraform', scope: 'mcp.invoke' } });
    }
    expect(provider.requests.slice(before)).toEqual(['/token/introspection']);
    expect(await refusalOf('unknown-token', server)).toMatchObject({ status: 401, reason: 'inactive' });
    const wrong = { ...provider.introspection, client_secret: 'wrong' };
    expect(await refusalOf(token, serverWith({ introspection: wrong }))).toMatchObject({
      status: 502,
      code: 'identity_provider_unavailable',
    });
  });

  it('takes the user from the token and the tenant from the key beside it', async () => {
    const token = await provider.tokenFor({ scopes: SCOPES });
    const caller = await callerOf({ 'x-gateway-api-key': ADMIN_KEY, authorization: `Bearer ${token}` }, company());
    expect(caller).toMatchObject({ kind: 'external', principal: { kind: 'api_key', organisationId } });
  });

  it('returns 502 when the identity provider is down, without a challenge', async () => {
    const stopped = await startIdentityProvider();
    const token = await stopped.tokenFor({ scopes: SCOPES });
    await stopped.close();
    const refusal = await refusalOf(token, serverWith({ jwksUri: stopped.jwksUri }));
    expect(refusal).toMatchObject({ status: 502, code: 'identity_provider_unavailable' });
    expect(refusal.headers).not.toHaveProperty('www-authenticate');
  });
});

describe('a token of the authorization server', () => {
  it('accepts a token for the server and the organisation that it names', async () => {
    const server = serverWith();
    const token = await provider.tokenFor({ scopes: SCOPES, audience: server.resource, organisationId });
    expect(await callerOf({ authorization: `Bearer ${token}` }, server)).toMatchObject({
      kind: 'oauth',
      externalToken: undefined,
      claims: { sub: 'terraform', scope: 'mcp.invoke' },
    });
  });

  it('refuses a token for another server, another organisation or without the scope', async () => {
    const server = serverWith();
    const other = await provider.tokenFor({
      scopes: SCOPES,
      audience: 'https://mcp.example.com/other/mcp',
      organisationId,
    });
    expect(await refusalOf(other, server)).toMatchObject({ status: 401, reason: 'audience' });
    const nowhere = await provider.tokenFor({ scopes: SCOPES, audience: server.resource });
    expect(await refusalOf(nowhere, server)).toMatchObject({ status: 404 });
    const weak = await provider.tokenFor({ scopes: ['workspaces.list'], audience: server.resource, organisationId });
    const refusal = await refusalOf(weak, server);
    expect(refusal).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(refusal.headers['www-authenticate']).toContain('error="insufficient_scope", scope="mcp.invoke"');
  });
});

describe("the gateway's signing keys", () => {
  it('signs the identity so that an MCP server can verify it with the published keys', async () => {
    const caller = await callerOf({ 'x-gateway-api-key': ADMIN_KEY }, serverWith());
    const header = await gateway.app
      .get(IdentityForwarding)
      .headerFor(caller, { method: 'jwt_header', jwt_expiry_seconds: 60 }, gateway.clock.now());
    const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', gateway.url));
    const { payload, protectedHeader } = await jwtVerify(header?.value ?? '', keySet, {
      issuer: 'service-mcp-gateway',
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]{43}$/) });
    expect(payload).toMatchObject({ sub: expect.stringMatching(/^api_key:/), organisation_id: organisationId });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  it('publishes only public keys to every origin for five minutes', async () => {
    const answer = await new GatewayClient(gateway.url, {}).get('/.well-known/jwks.json');
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'content-type': expect.stringContaining('application/json'),
    });
    const keys = readArray(readObject(jsonOf(answer), 'body')['keys'], 'keys');
    expect(keys).toHaveLength(1);
    expect(Object.keys(readObject(keys[0], 'key')).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  it('publishes an empty key set when the gateway has no signing keys', async () => {
    const without = await startTestApp({}, true);
    const answer = await new GatewayClient(without.url, {}).get('/.well-known/jwks.json');
    expect(jsonOf(answer)).toEqual({ keys: [] });
    await without.close();
  });
});

describe('session ids', () => {
  it('accepts a session id on every gateway of the database, also after MCP_SESSION_SECRETS changes', async () => {
    const owner = { serverId: 'server-1', serverOrigin: 'https://tools.example.com', user: 'ann' };
    const id = gateway.app.get(SessionBinding).bind('session', owner) ?? '';
    for (const secrets of ['', 'x'.repeat(32)]) {
      const other = await startTestApp({ MCP_SESSION_SECRETS: secrets }, true);
      expect(other.app.get(SessionBinding).unbind(id, owner)).toBe('session');
      await other.close();
    }
  });
});
