import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Principal } from '../../access/principal.js';
import { generateApiKey } from '../../api-keys/api-key-format.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { loadConfig } from '../../config/environment.js';
import { PRINCIPAL } from '../__fixtures__/principal.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import type { JwtValidation, JwtValidationFields, McpServerIdentity } from '../config/identity-config.js';
import { toJwtValidation } from '../config/to-jwt-validation.js';
import { toRawHeaders } from '../headers/raw-headers.js';
import { SessionBinding } from '../sessions/session-binding.js';
import { ApiKeyAuthenticator } from './api-key.authenticator.js';
import { assertClaims } from './claim-rules.js';
import { ExternalTokenAuthenticator } from './external-token.authenticator.js';
import { McpAuthentication } from './mcp-authentication.js';
import { OAuthTokenAuthenticator } from './oauth-token.authenticator.js';
import { ResourceMetadata } from './resource-metadata.js';
import { TokenRefusedError } from './token-errors.js';
import type { ValidToken } from './token-validator.js';

const NOW = new Date('2026-11-21T10:00:00Z');
const KEY = generateApiKey();
const USER_KEY = generateApiKey();
const WEAK_KEY = generateApiKey();
const FOREIGN_KEY = generateApiKey();
const WIDE_KEY = generateApiKey();
const BINDING = new SessionBinding([Buffer.from('secret')]);
const ISSUER = 'https://login.example.com';
const OAUTH_ISSUER = 'https://auth.example.com';
const RESOURCE = 'https://mcp.example.com/search/mcp';
const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/search/mcp';
const OWNERS: Readonly<Record<string, Principal>> = {
  [KEY]: PRINCIPAL,
  [USER_KEY]: { ...PRINCIPAL, id: 'key-2', user: { user_id: 'u-42', email: 'ann@example.com', sub: 'ann' } },
  [WEAK_KEY]: { ...PRINCIPAL, scopes: new Set(['completions.write']) },
  [FOREIGN_KEY]: { ...PRINCIPAL, organisationId: 'org-2' },
  [WIDE_KEY]: { ...PRINCIPAL, workspaceId: null },
};
const SERVER: McpServerIdentity = { id: 'server-1', organisationId: 'org-1', workspaceId: 'ws-1', resource: RESOURCE };
const OAUTH = {
  MCP_PUBLIC_URL: 'https://mcp.example.com',
  MCP_OAUTH_ISSUER: OAUTH_ISSUER,
  MCP_OAUTH_JWKS_URI: `${OAUTH_ISSUER}/keys`,
  MCP_OAUTH_SCOPES: 'mcp:use,mcp:read',
};

const ENDPOINT = `${OAUTH_ISSUER}/introspect`;
const OPAQUE = {
  ...OAUTH,
  MCP_OAUTH_INTROSPECTION_ENDPOINT: ENDPOINT,
  MCP_OAUTH_INTROSPECTION_CLIENT_ID: 'gateway',
  MCP_OAUTH_INTROSPECTION_CLIENT_SECRET: 'a secret',
};
const ASKED = `${ISSUER}/introspect`;
const INTROSPECTION = { endpoint: ASKED, client_id: 'server', client_secret: 'another' };

let lookedUp: string[];
let judged: { readonly token: string; readonly rules: JwtValidation }[];
let tokens: Readonly<Record<string, { readonly claims: JsonObject; readonly keys: readonly string[] }>>;

/** A JWT as far as the choice of its judge goes; the judge here is a table. */
function tokenOf(claims: JsonObject): string {
  const [header, payload] = [{ alg: 'RS256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${header}.${payload}.c2ln`;
}

const EXTERNAL = { iss: ISSUER, sub: 'ann', email: 'ann@login.example.com', organisation_id: 'evil' };
const OAUTH_CLAIMS = {
  iss: OAUTH_ISSUER,
  sub: 'bob',
  organisation_id: 'org-1',
  scope: 'mcp:use mcp:read x',
  client_id: 'cli',
};

beforeEach(() => {
  lookedUp = [];
  judged = [];
  tokens = {};
});

function authenticationWith(settings: Readonly<Record<string, string>>): McpAuthentication {
  const config = loadConfig(settings);
  const validator = {
    validate: async (token: string, rules: JwtValidation): Promise<ValidToken> => {
      judged.push({ token, rules });
      const known = tokens[token];
      if (known === undefined) throw new TokenRefusedError('signature');
      const asked = token === 'opaque' ? rules.introspection?.endpoint : rules.jwksUri;
      if (!known.keys.includes(asked ?? '')) throw new TokenRefusedError('unknown_key');
      assertClaims(known.claims, rules);
      return { claims: known.claims, isIntrospected: token === 'opaque' };
    },
  };
  const ownerOf = async (key: string): Promise<Principal> => {
    const owner = OWNERS[key];
    if (owner === undefined) throw new GatewayError('api_key_invalid');
    return owner;
  };
  const keys = new ApiKeyAuthenticator({
    ownerOf: async (key) => {
      lookedUp.push(key);
      return ownerOf(key);
    },
    knownOwnerOf: ownerOf,
  });
  const list = [
    keys,
    new ExternalTokenAuthenticator(config, validator),
    new OAuthTokenAuthenticator(config, validator),
  ];
  return new McpAuthentication(list, keys, config, new ResourceMetadata(config, BINDING));
}

function serverWith(fields: JwtValidationFields): McpServerIdentity {
  return { ...SERVER, jwtValidation: toJwtValidation({ jwksUri: `${ISSUER}/keys`, ...fields }) };
}

/** A token that its judge finds good, if it asks one of these addresses for keys. */
function good(
  claims: JsonObject,
  keys = [claims['iss'] === OAUTH_ISSUER ? `${OAUTH_ISSUER}/keys` : `${ISSUER}/keys`],
): string {
  const token = tokenOf(claims);
  tokens = { ...tokens, [token]: { claims, keys } };
  return token;
}

/** A token that the provider at the endpoint knows. */
function opaque(endpoint = ENDPOINT, claims: JsonObject = OAUTH_CLAIMS): string {
  tokens = { ...tokens, opaque: { claims, keys: [endpoint] } };
  return 'opaque';
}

type Headers = readonly (readonly [string, string])[];

async function callerOf(
  headers: Headers,
  server = SERVER,
  settings: Readonly<Record<string, string>> = {},
): Promise<McpCaller> {
  return authenticationWith(settings).callerOf({ headers: toRawHeaders(headers.flat()) }, server, NOW);
}

async function refusalOf(
  headers: Headers,
  server = SERVER,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayError> {
  const outcome: unknown = await callerOf(headers, server, settings).catch((error: unknown) => error);
  if (outcome instanceof GatewayError) return outcome;
  throw new Error('expected a refusal', { cause: outcome });
}

const bearer = (token: string): readonly [string, string] => ['Authorization', `Bearer ${token}`];

describe('McpAuthentication with a gateway key', () => {
  it.each<readonly [string, Headers]>([
    ['x-gateway-api-key', [['X-Gateway-Api-Key', KEY]]],
    ['x-portkey-api-key', [['x-portkey-api-key', KEY]]],
    ['Authorization', [bearer(KEY)]],
  ])('accepts a key for the servers of its tenant, in the header %s', async (_header, headers) => {
    expect(await callerOf(headers)).toEqual({
      kind: 'api_key',
      principal: PRINCIPAL,
      claims: { sub: 'api_key:key-1', organisation_id: 'org-1', workspace_id: 'ws-1' },
      sessionUser: '["key","org-1","key-1"]',
      externalToken: undefined,
    });
  });

  it('refuses a key without the scope mcp.invoke', async () => {
    const refusal = await refusalOf([bearer(WEAK_KEY)]);
    expect(refusal).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(refusal.message).toContain('mcp.invoke');
  });

  it('returns 404 to a key for the server of another tenant', async () => {
    expect(await refusalOf([bearer(FOREIGN_KEY)])).toMatchObject({ status: 404, code: 'not_found' });
    expect(await refusalOf([bearer(KEY)], { ...SERVER, workspaceId: 'ws-2' })).toMatchObject({ code: 'not_found' });
    expect((await callerOf([bearer(KEY)], { ...SERVER, workspaceId: null })).kind).toBe('api_key');
  });

  it('refuses a bad key although a good token is sent too', async () => {
    const token = good(EXTERNAL);
    expect(await refusalOf([['x-gateway-api-key', 'junk'], bearer(token)], serverWith({}))).toMatchObject({
      code: 'api_key_invalid',
    });
  });

  it('counts a key once when its owner was looked up before', async () => {
    const authentication = authenticationWith({});
    const headers = toRawHeaders(['x-gateway-api-key', KEY]);
    const keyOwner = await authentication.keyOwnerOf(headers, NOW);
    expect((await authentication.callerOf({ headers, keyOwner }, SERVER, NOW)).principal).toBe(PRINCIPAL);
    expect(lookedUp).toEqual([KEY]);
    expect(await authentication.keyOwnerOf(headers, NOW, true)).toBe(PRINCIPAL);
    expect(lookedUp).toEqual([KEY]);
    await expect(
      authentication.keyOwnerOf(toRawHeaders(['x-gateway-api-key', 'junk']), NOW, true),
    ).rejects.toMatchObject({ code: 'api_key_invalid' });
    expect(await authentication.keyOwnerOf(toRawHeaders(['authorization', 'Bearer e30.e30.x']), NOW)).toBeUndefined();
  });

  it('never treats a gateway key as the token of a user', async () => {
    for (const server of [serverWith({}), serverWith({ header_key: 'X-Id-Token' })]) {
      const caller = await callerOf([['x-gateway-api-key', KEY], bearer(USER_KEY), ['X-Id-Token', USER_KEY]], server);
      expect(caller).toMatchObject({ kind: 'api_key', externalToken: undefined });
    }
    expect(judged).toEqual([]);
  });
});

describe("McpAuthentication with a token of the company's provider", () => {
  it('accepts a token alone when the server trusts its provider', async () => {
    const token = good(EXTERNAL);
    expect(await callerOf([bearer(token)], serverWith({}))).toEqual({
      kind: 'external',
      principal: { ...PRINCIPAL, kind: 'mcp_user', id: 'ann' },
      claims: { ...EXTERNAL, organisation_id: 'org-1', workspace_id: 'ws-1' },
      sessionUser: `["token","org-1","${ISSUER}","ann"]`,
      externalToken: token,
    });
  });

  it('reads a token from the configured header, with or without the word Bearer', async () => {
    const token = good(EXTERNAL);
    for (const value of [token, `Bearer ${token}`]) {
      const caller = await callerOf([bearer(KEY), ['x-id-token', value]], serverWith({ header_key: 'X-Id-Token' }));
      expect(caller).toMatchObject({ kind: 'external', externalToken: token, principal: { id: 'key-1' } });
    }
  });

  it('takes the user from the token and the tenant from the key', async () => {
    const token = good(EXTERNAL);
    const caller = await callerOf([['x-gateway-api-key', USER_KEY], bearer(token)], serverWith({}));
    expect(caller).toMatchObject({
      kind: 'external',
      principal: { kind: 'api_key', id: 'key-2' },
      claims: { email: 'ann@login.example.com', user_id: 'u-42', organisation_id: 'org-1' },
      sessionUser: `["token","org-1","${ISSUER}","ann"]`,
    });
  });

  it('refuses a bad token although a good key is sent too', async () => {
    const headers: Headers = [['x-gateway-api-key', KEY], bearer(tokenOf(EXTERNAL))];
    expect(await refusalOf(headers, serverWith({}))).toMatchObject({
      status: 401,
      code: 'token_invalid',
      reason: 'signature',
    });
  });

  it('does not validate a token for a server that trusts no provider', async () => {
    expect(await refusalOf([bearer(good(EXTERNAL))])).toMatchObject({ status: 401, code: 'token_invalid' });
    const caller = await callerOf([['x-gateway-api-key', KEY], bearer(good(EXTERNAL))]);
    expect(caller).toMatchObject({ kind: 'api_key', externalToken: undefined });
    expect(judged).toEqual([]);
  });

  it.each<readonly [string, JsonObject, string]>([
    ['missing', { sub: undefined }, 'no_subject'],
    ['missing, with a client that is null', { sub: undefined, client_id: null, azp: null }, 'no_subject'],
    ['an empty string', { sub: '' }, 'invalid_subject'],
    ['a number', { sub: 1001 }, 'invalid_subject'],
    ['a list', { sub: ['ann'] }, 'invalid_subject'],
    ['null', { sub: null }, 'invalid_subject'],
    ['a NUL', { sub: 'nul\0' }, 'invalid_subject'],
    ['two lines', { sub: 'line\nbreak' }, 'invalid_subject'],
    ['not ASCII', { sub: 'jörg' }, 'invalid_subject'],
    ['a number, and names a client', { sub: 1001, azp: 'app' }, 'invalid_subject'],
    ['an empty name, and names a client', { sub: '', client_id: 'app' }, 'invalid_subject'],
    ['null, and names a user in other words', { sub: null, username: 'ann', client_id: 'app' }, 'invalid_subject'],
  ])('refuses a token whose subject is %s', async (_what, claims, reason) => {
    const refusal = await refusalOf([bearer(good({ iss: ISSUER, ...claims }))], serverWith({}));
    expect(refusal).toMatchObject({ status: 401, code: 'token_invalid', reason });
  });

  it.each<readonly [string, JsonObject]>([
    ['sub', { sub: 'x'.repeat(256), azp: 'app' }],
    ['client_id', { client_id: 'x'.repeat(256), azp: 'app' }],
    ['azp', { azp: 'x'.repeat(256) }],
  ])('does not ask for another token when %s is too long, and names it in the reason', async (claim, claims) => {
    const refusal = await refusalOf([bearer(good({ iss: ISSUER, ...claims }))], serverWith({}));
    expect(refusal).toMatchObject({ status: 502, code: 'identity_forwarding_failed' });
    expect(refusal).toMatchObject({
      reason: `subject_too_long: ${claim}: The claim that names the user has more than 255 characters.`,
      headers: {},
    });
  });

  describe('for a server with bearer', () => {
    const ADMIN = {
      ADMIN_OIDC_ISSUER: ISSUER,
      ADMIN_OIDC_AUDIENCE: 'urn:tollgate',
      ADMIN_OIDC_JWKS_URI: `${ISSUER}/keys`,
      PUBLIC_URL: 'https://api.example.com/gateway',
    };
    const LOCAL = { ...SERVER, resource: 'http://localhost:8787/search/mcp' };

    it.each<readonly [unknown, Readonly<Record<string, string>>, McpServerIdentity]>([
      [`${RESOURCE}/`, OAUTH, SERVER],
      ['https://MCP.example.com', OAUTH, SERVER],
      ['urn:tollgate', ADMIN, SERVER],
      [['urn:other', 'urn:tollgate'], ADMIN, SERVER],
      ['https://api.example.com/gateway/v1', ADMIN, SERVER],
      ['http://127.0.0.1:8787/search/mcp', {}, LOCAL],
      ['http://[::1]:8787', {}, LOCAL],
    ])('keeps back a token that was issued for the gateway: %j', async (aud, settings, server) => {
      const token = good({ ...EXTERNAL, aud });
      const rules = serverWith({ issuer: ISSUER });
      const caller = await callerOf(
        [bearer(token)],
        { ...rules, ...server, jwtValidation: rules.jwtValidation },
        settings,
      );
      expect(caller).toMatchObject({ kind: 'external', externalToken: undefined });
    });

    it.each<readonly [unknown, Readonly<Record<string, string>>, string | undefined]>([
      ['urn:tollgate', {}, undefined],
      ['urn:tollgate', ADMIN, 'urn:tollgate'],
      ['http://127.0.0.1:8787/search/mcp', OAUTH, undefined],
      [undefined, ADMIN, undefined],
    ])(
      'passes on a token that was issued for another audience, or that its rules name: %j',
      async (aud, settings, audience) => {
        const token = good({ ...EXTERNAL, aud });
        const server = serverWith({ issuer: ISSUER, ...(audience === undefined ? {} : { audience }) });
        expect((await callerOf([bearer(token)], server, settings)).externalToken).toBe(token);
      },
    );
  });

  it('accepts a subject of 255 characters', async () => {
    const subject = 'x'.repeat(255);
    const caller = await callerOf([bearer(good({ iss: ISSUER, sub: subject }))], serverWith({}));
    expect(caller.principal.id).toBe(subject);
  });

  it('names the client when the token has no subject, and never confuses it with a user of the same name', async () => {
    const users = new Set<string>();
    for (const claims of [{ sub: 'app' }, { client_id: 'app' }, { azp: 'app', username: 'ann' }]) {
      const caller = await callerOf([bearer(good({ iss: ISSUER, ...claims }))], serverWith({}));
      expect(caller.principal.id).toBe('app');
      users.add(caller.sessionUser);
    }
    expect([...users]).toEqual([`["token","org-1","${ISSUER}","app"]`, `["client","org-1","${ISSUER}","app"]`]);
  });

  describe('that is opaque', () => {
    const server = serverWith({ jwksUri: undefined, introspection: INTROSPECTION });
    const callerBy = (claims: JsonObject): Promise<McpCaller> =>
      callerOf([bearer(opaque(ASKED, { iss: ISSUER, client_id: 'app', ...claims }))], server);

    it('names the user by username when introspection returns no subject', async () => {
      const users: string[] = [];
      for (const claims of [
        { username: 'ann' },
        { username: 'bob' },
        { sub: 'ann', username: 'bob' },
        { username: null },
      ]) {
        users.push((await callerBy(claims)).sessionUser);
      }
      expect(users).toEqual([
        `["username","org-1","${ISSUER}","ann"]`,
        `["username","org-1","${ISSUER}","bob"]`,
        `["token","org-1","${ISSUER}","ann"]`,
        `["client","org-1","${ISSUER}","app"]`,
      ]);
    });

    it('forwards the claims of an opaque token without inventing a subject', async () => {
      const { claims, principal } = await callerBy({ username: 'ann', user_id: 'u-42' });
      expect(claims).toEqual({
        iss: ISSUER,
        client_id: 'app',
        username: 'ann',
        organisation_id: 'org-1',
        workspace_id: 'ws-1',
      });
      expect(principal.id).toBe('ann');
    });

    it.each<readonly [string, JsonObject]>([
      ['an empty string', { username: '' }],
      ['a number', { username: 1001 }],
      ['a wrong subject besides', { sub: 1001, username: 'ann' }],
    ])('refuses an opaque token whose user is named by %s', async (_what, claims) => {
      await expect(callerBy(claims)).rejects.toMatchObject({ code: 'token_invalid', reason: 'invalid_subject' });
    });

    it('does not ask for another token when the username is too long', async () => {
      const refusal = { code: 'identity_forwarding_failed', reason: expect.stringContaining('username') };
      await expect(callerBy({ username: 'x'.repeat(256) })).rejects.toMatchObject(refusal);
    });
  });

  it('uses the address of the key set as issuer when the token names none', async () => {
    expect((await callerOf([bearer(good({ sub: 'ann' }))], serverWith({}))).sessionUser).toBe(
      `["token","org-1","${ISSUER}/keys","ann"]`,
    );
  });
});

describe('McpAuthentication with a token of the authorization server', () => {
  it('caches the rules per server', async () => {
    const authentication = authenticationWith(OAUTH);
    const headers = toRawHeaders(bearer(good({ ...OAUTH_CLAIMS, aud: RESOURCE })));
    const other = { ...SERVER, resource: `${RESOURCE}/other` };
    for (const server of [{ ...SERVER }, { ...SERVER }, other]) await authentication.callerOf({ headers }, server, NOW);
    const [first, second, third] = judged.map(({ rules }) => rules);
    expect(second).toBe(first);
    expect([first?.audience, third?.audience]).toEqual([[RESOURCE], [`${RESOURCE}/other`]]);
  });

  it('refuses a token that was issued for another address', async () => {
    const token = good(OAUTH_CLAIMS);
    const caller = await callerOf([bearer(token)], SERVER, OAUTH);
    expect(judged[0]?.rules).toMatchObject({ issuer: OAUTH_ISSUER, audience: [RESOURCE] });
    expect(caller).toMatchObject({
      kind: 'oauth',
      claims: {
        sub: 'bob',
        scope: 'mcp:use mcp:read x',
        client_id: 'cli',
        organisation_id: 'org-1',
        workspace_id: 'ws-1',
      },
    });
    expect(caller.externalToken).toBeUndefined();
  });

  it('refuses a token that lacks a scope, with a challenge that names all scopes', async () => {
    const refusal = await refusalOf([bearer(good({ ...OAUTH_CLAIMS, scope: 'mcp:read' }))], SERVER, OAUTH);
    expect(refusal).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(refusal.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}", error="insufficient_scope", scope="mcp:use mcp:read"`,
    );
  });

  it.each<readonly [string, JsonObject]>([
    ['another organisation', { organisation_id: 'org-2' }],
    ['no organisation', { organisation_id: undefined }],
    ['an organisation that only begins the same', { organisation_id: 'org-10' }],
    ['another workspace', { workspace_id: ['ws-2', 'ws-3'] }],
    ['no workspace of all', { workspace_id: [] }],
  ])('returns 404 for a token that grants %s', async (_what, claims) => {
    expect(await refusalOf([bearer(good({ ...OAUTH_CLAIMS, ...claims }))], SERVER, OAUTH)).toMatchObject({
      status: 404,
    });
  });

  it('accepts several organisations, in configured claims', async () => {
    const settings = { ...OAUTH, MCP_OAUTH_ORGANISATION_CLAIM: 'orgs', MCP_OAUTH_WORKSPACE_CLAIM: 'spaces' };
    const token = good({ ...OAUTH_CLAIMS, organisation_id: undefined, orgs: ['org-0', 'org-1'], spaces: 'ws-0 ws-1' });
    expect((await callerOf([bearer(token)], SERVER, settings)).kind).toBe('oauth');
  });

  it('compares UUIDs in either case, and nothing else', async () => {
    const ids = {
      organisationId: 'aa0c8a52-6f0e-4c3e-9a39-0f2f6f6d7a11',
      workspaceId: 'bb0c8a52-6f0e-4c3e-9a39-0f2f6f6d7a12',
    };
    const server = { ...SERVER, ...ids };
    const granting = (organisation_id: string, workspace_id: string): Headers => [
      bearer(good({ ...OAUTH_CLAIMS, organisation_id, workspace_id })),
    ];
    const capitals = granting(ids.organisationId.toUpperCase(), ids.workspaceId.toUpperCase());
    expect((await callerOf(capitals, server, OAUTH)).kind).toBe('oauth');
    expect(await refusalOf(granting('ORG-1', 'ws-1'), SERVER, OAUTH)).toMatchObject({ status: 404 });
    expect(await refusalOf(granting('org-1', 'WS-1'), SERVER, OAUTH)).toMatchObject({ status: 404 });
  });

  it('takes the tenant from a key that is sent too', async () => {
    const token = good({ ...OAUTH_CLAIMS, organisation_id: 'org-2' });
    const caller = await callerOf([['x-gateway-api-key', KEY], bearer(token)], SERVER, OAUTH);
    expect(caller).toMatchObject({
      kind: 'oauth',
      principal: { id: 'key-1' },
      claims: { sub: 'bob', organisation_id: 'org-1' },
    });
  });

  it.each<readonly [string, JwtValidationFields, JsonObject, string]>([
    ['its issuer', {}, OAUTH_CLAIMS, 'oauth'],
    ['the issuer of the company', {}, { ...EXTERNAL }, 'external'],
    ['another issuer than the one that the server names', { issuer: ISSUER }, OAUTH_CLAIMS, 'oauth'],
    [
      'an issuer that the server names itself',
      { issuer: OAUTH_ISSUER, jwksUri: `${OAUTH_ISSUER}/keys` },
      OAUTH_CLAIMS,
      'external',
    ],
    ['keys that the server has as well', { jwksUri: `${OAUTH_ISSUER}/keys` }, OAUTH_CLAIMS, 'external'],
  ])('distinguishes tokens of two providers by %s', async (_what, fields, claims, kind) => {
    expect((await callerOf([bearer(good(claims))], serverWith(fields), OAUTH)).kind).toBe(kind);
  });

  describe('at a server with rules for the same provider', () => {
    const RULES = { requiredClaims: ['email'], claim_values: { groups: ['admins'] } };
    const ADMIN = { ...OAUTH_CLAIMS, email: 'bob@example.com', groups: ['admins'] };
    const ELSEWHERE = `${OAUTH_ISSUER}/tenant/keys`;
    /** Where the provider has its keys. */
    const KEYS = [`${OAUTH_ISSUER}/keys`, ELSEWHERE];
    const PROVIDERS = [
      ['keys', { jwksUri: `${OAUTH_ISSUER}/keys` }],
      ['keys under another address', { jwksUri: ELSEWHERE }],
      ['issuer', { jwksUri: ELSEWHERE, issuer: OAUTH_ISSUER }],
    ] as const;

    it.each(PROVIDERS)("validates the token by the server's rules: %s", async (_what, fields) => {
      const server = serverWith({ ...fields, ...RULES });
      const token = good(ADMIN, KEYS);
      expect(await callerOf([bearer(token)], server, OAUTH)).toMatchObject({ kind: 'external', externalToken: token });
      expect(judged.map(({ rules }) => rules.audience)).toEqual([undefined]);
      for (const claims of [OAUTH_CLAIMS, { ...ADMIN, groups: ['interns'] }]) {
        expect(await refusalOf([bearer(good(claims, KEYS))], server, OAUTH)).toMatchObject({ code: 'token_invalid' });
      }
    });

    it("refuses a token that the server's rules cannot validate", async () => {
      const [[, sameKeys], , [, sameIssuer]] = PROVIDERS;
      for (const fields of [sameKeys, sameIssuer]) {
        expect(await refusalOf([bearer(opaque())], serverWith({ ...fields, ...RULES }), OPAQUE)).toMatchObject({
          code: 'token_invalid',
        });
      }
    });
  });

  it.each<readonly [string, JwtValidationFields, string, string]>([
    ['no provider of the server that is asked about such', {}, ENDPOINT, 'oauth'],
    ['a provider of the server that is', { introspection: INTROSPECTION }, ASKED, 'external'],
    [
      'the same provider',
      { jwksUri: undefined, introspection: { ...INTROSPECTION, endpoint: ENDPOINT } },
      ENDPOINT,
      'external',
    ],
  ])('distinguishes opaque tokens of two providers by %s', async (_what, fields, endpoint, kind) => {
    expect((await callerOf([bearer(opaque(endpoint))], serverWith(fields), OPAQUE)).kind).toBe(kind);
  });
});

describe('McpAuthentication without credentials', () => {
  it('sends a challenge that names where to log in, if there is a place', async () => {
    const refusal = await refusalOf([], SERVER, OAUTH);
    expect(refusal).toMatchObject({ status: 401, code: 'api_key_invalid' });
    expect(refusal.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}", scope="mcp:use mcp:read"`,
    );
    const keysOnly = await refusalOf([]);
    expect(keysOnly.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    const company = await refusalOf([], serverWith({ issuer: ISSUER, advertise_issuer: true }));
    expect(company.headers['www-authenticate']).toBe(`Bearer resource_metadata="${METADATA}"`);
  });

  it.each<readonly [string, JwtValidationFields]>([
    ['has an identity provider', { issuer: ISSUER }],
    ['requires tokens', { issuer: ISSUER, required: true }],
    ['takes tokens in another header', { issuer: ISSUER, header_key: 'X-Id-Token' }],
    ['asks about tokens', { jwksUri: undefined, introspection: INTROSPECTION }],
  ])('sends the same refusal for a server that %s as for one without settings', async (_what, fields) => {
    const junk = bearer(tokenOf({ ...EXTERNAL, exp: 1 }));
    for (const settings of [{}, OAUTH]) {
      for (const headers of [[], [junk], [bearer('opaque')], [bearer('?')]]) {
        const facts = async (server: McpServerIdentity): Promise<unknown> => {
          const { status, code, message, headers: sent } = await refusalOf(headers, server, settings);
          return { status, code, message, sent };
        };
        expect(await facts(serverWith(fields))).toEqual(await facts(SERVER));
      }
    }
  });

  it.each(['Basic dXNlcjpwdw==', 'Bearer', 'Bearer ', 'junk'])(
    'treats the header %j as no credentials',
    async (authorization) => {
      expect(await refusalOf([['authorization', authorization]], serverWith({}))).toMatchObject({ reason: 'missing' });
    },
  );

  it('reports a bad token as invalid_token, without the reason', async () => {
    const refusal = await refusalOf([bearer(tokenOf(OAUTH_CLAIMS))], SERVER, OAUTH);
    expect(refusal).toMatchObject({ status: 401, code: 'token_invalid', reason: 'signature' });
    expect(refusal.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}", error="invalid_token", ` +
        'error_description="The access token is not valid for this server, or has expired", scope="mcp:use mcp:read"',
    );
  });
});

describe('McpAuthentication with two credentials of one kind', () => {
  it.each<readonly [string, JwtValidationFields]>([
    ['authorization', {}],
    ['x-gateway-api-key', {}],
    ['x-portkey-api-key', {}],
    ['x-id-token', { header_key: 'X-Id-Token' }],
    ['mcp-session-id', {}],
  ])('refuses two headers %s', async (name, fields) => {
    const headers: Headers = [bearer(KEY), [name.toUpperCase(), 'a'], [name, 'b']];
    expect(await refusalOf(headers, serverWith(fields))).toMatchObject({ status: 400, param: name });
    expect(lookedUp).toEqual([]);
  });
});

describe('McpAuthentication with a returning caller', () => {
  const ELSEWHERE: McpServerIdentity = { ...SERVER, id: 'server-2', workspaceId: 'ws-2' };

  it('computes the caller once', async () => {
    const authentication = authenticationWith({});
    const server = serverWith({});
    for (const credential of [KEY, good(EXTERNAL)]) {
      const request = { headers: toRawHeaders(bearer(credential)) };
      const known = await authentication.callerOf(request, server, NOW);
      expect(await authentication.callerOf(request, server, NOW)).toBe(known);
    }
  });

  it.each<readonly [string, () => string]>([
    ['a key of the whole organisation', () => WIDE_KEY],
    ["a token of the company's provider", () => good(EXTERNAL)],
  ])('computes another caller for the server of another workspace: %s', async (_what, credential) => {
    const authentication = authenticationWith({});
    const request = { headers: toRawHeaders(bearer(credential())) };
    const { jwtValidation } = serverWith({});
    const workspaces: unknown[] = [];
    for (const server of [SERVER, ELSEWHERE, SERVER]) {
      const { claims } = await authentication.callerOf(request, { ...server, jwtValidation }, NOW);
      workspaces.push(claims['workspace_id']);
    }
    expect(workspaces).toEqual(['ws-1', 'ws-2', 'ws-1']);
  });

  it('uses the token of each request, and no user when there is none', async () => {
    const authentication = authenticationWith({});
    const server = serverWith({ header_key: 'X-Id-Token' });
    const withToken = toRawHeaders([...bearer(KEY), 'X-Id-Token', good(EXTERNAL)]);
    const subjects: unknown[] = [];
    for (const headers of [toRawHeaders(bearer(KEY)), withToken, toRawHeaders(bearer(KEY))]) {
      subjects.push((await authentication.callerOf({ headers }, server, NOW)).claims['sub']);
    }
    expect(subjects).toEqual(['api_key:key-1', 'ann', 'api_key:key-1']);
  });

  it('checks access on each request', async () => {
    const authentication = authenticationWith(OAUTH);
    const request = { headers: toRawHeaders(bearer(good(OAUTH_CLAIMS))) };
    await authentication.callerOf(request, SERVER, NOW);
    const foreign = { ...SERVER, organisationId: 'org-2' };
    await expect((async () => authentication.callerOf(request, foreign, NOW))()).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a server that requires tokens of its own identity provider', () => {
  const server = (): McpServerIdentity => serverWith({ issuer: ISSUER, required: true });

  it('accepts such a token, with a key beside it or without', async () => {
    const token = good(EXTERNAL);
    const bearer = ['authorization', `Bearer ${token}`] as const;
    expect(await callerOf([bearer], server(), OAUTH)).toMatchObject({ kind: 'external' });
    expect(await callerOf([['x-gateway-api-key', USER_KEY], bearer], server(), OAUTH)).toMatchObject({
      kind: 'external',
    });
  });

  it.each<readonly [string, () => Headers]>([
    ['a key of a user', () => [['x-gateway-api-key', USER_KEY]]],
    ['a service key', () => [['authorization', `Bearer ${KEY}`]]],
    ['a token of the authorization server', () => [['authorization', `Bearer ${good(OAUTH_CLAIMS)}`]]],
    [
      'a key with a token of the authorization server',
      () => [
        ['x-gateway-api-key', USER_KEY],
        ['authorization', `Bearer ${good(OAUTH_CLAIMS)}`],
      ],
    ],
  ])('refuses %s, and says where to log in', async (_what, headers) => {
    const refusal: unknown = await callerOf(headers(), server(), OAUTH).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 401, code: 'token_invalid' });
    expect(refusal).toMatchObject({ headers: { 'www-authenticate': expect.stringContaining(`${METADATA}?login=`) } });
  });

  it('does not exist for a token of the authorization server that grants another organisation', async () => {
    const foreign = bearer(good({ ...OAUTH_CLAIMS, organisation_id: 'org-2' }));
    expect(await refusalOf([foreign], server(), OAUTH)).toMatchObject({ status: 404 });
  });
});
