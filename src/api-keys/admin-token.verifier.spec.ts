import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import type { RequestListener } from 'node:http';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Clock } from '../common/time/clock.js';
import { loadConfig } from '../config/environment.js';
import { type Loopback, startHttp, startTcp } from '../upstream/__fixtures__/loopback.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { AdminTokenVerifier } from './admin-token.verifier.js';

const ISSUER = 'https://login.example.com';
const AUDIENCE = 'tollgate';
const ORGANISATION = '3f0c8a52-6f0e-4c3e-9a39-0f2f6f6d7a11';
const HEADER = { alg: 'RS256', kid: 'rsa-1' };
const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'admin-1',
  organisation_id: ORGANISATION,
  scope: 'workspaces.list workspaces.create',
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

let rsa: KeyPair;
let elliptic: KeyPair;
let edwards: KeyPair;
let stranger: KeyPair;
let answerWithKeys: RequestListener;
let server: Loopback;
let answer: RequestListener;
let verifier: AdminTokenVerifier;
let monotonicMs: number;

beforeAll(async () => {
  [rsa, elliptic, edwards, stranger] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('ES256', { extractable: true }),
    generateKeyPair('Ed25519', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
  ]);
  const keys = JSON.stringify({
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa-1' },
      { ...(await exportJWK(elliptic.publicKey)), kid: 'ec-1' },
      { ...(await exportJWK(edwards.publicKey)), kid: 'ed-1' },
    ],
  });
  answerWithKeys = (_request, response) => void response.setHeader('content-type', 'application/json').end(keys);
  server = await startHttp((request, response) => answer(request, response));
});

beforeEach(() => {
  monotonicMs = 0;
  answer = answerWithKeys;
  verifier = verifierFor(server.url('/keys').href);
});

afterAll(() => server.close());

function verifierFor(jwksUri: string, more: Readonly<Record<string, string>> = {}): AdminTokenVerifier {
  const config = loadConfig({
    ADMIN_OIDC_ISSUER: ISSUER,
    ADMIN_OIDC_AUDIENCE: AUDIENCE,
    ADMIN_OIDC_JWKS_URI: jwksUri,
    ...more,
  });
  return new AdminTokenVerifier(config, new EgressPolicy(['127.0.0.1']), clock, { warn: () => undefined });
}

/** Its age of things goes on when a test says so. */
const clock = Object.assign(new Clock(), { monotonic: () => monotonicMs });

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

/** A good token, but for the named changes; `undefined` leaves a claim out. */
function sign(
  claims: Readonly<Record<string, unknown>> = {},
  { privateKey }: Pick<KeyPair, 'privateKey'> = rsa,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const all = { ...CLAIMS, iat: nowSeconds(), exp: nowSeconds() + 300, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ ...HEADER, ...header }).sign(privateKey);
}

/** What signing libraries refuse to make. */
function forge(header: object, claims: object, signature: (text: string) => string): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${signature(text)}`;
}

async function refusalOf(token: string, by: AdminTokenVerifier = verifier): Promise<GatewayError> {
  const outcome: unknown = await by.verify(token).catch((error: unknown) => error);
  if (outcome instanceof GatewayError) return outcome;
  throw new Error('expected a refusal', { cause: outcome });
}

describe('a good token', () => {
  it('returns the caller, its organisations, its scopes and its end', async () => {
    const exp = nowSeconds() + 120;
    expect(await verifier.verify(await sign({ exp }))).toEqual({
      subject: 'admin-1',
      expiresAt: new Date(exp * 1_000),
      organisationIds: [ORGANISATION],
      scopes: new Set(['workspaces.list', 'workspaces.create']),
    });
  });

  it('accepts organisation ids in capitals and keeps other words as they are', async () => {
    const claims = { organisation_id: [ORGANISATION.toUpperCase(), 'Acme'] };
    expect((await verifier.verify(await sign(claims))).organisationIds).toEqual([ORGANISATION, 'Acme']);
  });

  it('accepts a token signed by any key of the set', async () => {
    const tokens = [
      sign({}, elliptic, { alg: 'ES256', kid: 'ec-1' }),
      sign({}, edwards, { alg: 'Ed25519', kid: 'ed-1' }),
    ];
    for (const token of await Promise.all(tokens)) expect((await verifier.verify(token)).subject).toBe('admin-1');
  });

  it('accepts arrays of organisations, scopes and audiences', async () => {
    const claims = { organisation_id: ['a', 'b'], scope: ['workspaces.read'], aud: ['other', AUDIENCE] };
    expect(await verifier.verify(await sign(claims))).toMatchObject({
      organisationIds: ['a', 'b'],
      scopes: new Set(['workspaces.read']),
    });
  });

  it('reads organisations and scopes from the claims that the settings name', async () => {
    const names = { ADMIN_OIDC_ORGANISATION_CLAIM: 'tenants', ADMIN_OIDC_SCOPE_CLAIM: 'permissions' };
    const claims = { tenants: ['a'], permissions: ['workspaces.read'] };
    expect(await verifierFor(server.url('/keys').href, names).verify(await sign(claims))).toMatchObject({
      organisationIds: ['a'],
      scopes: new Set(['workspaces.read']),
    });
  });

  it('grants no scope for unknown scopes and for claims of another form', async () => {
    const claims = { organisation_id: [{ id: 'b' }, 'a'], scope: 'openid everything workspaces.list ' };
    expect(await verifier.verify(await sign(claims))).toMatchObject({
      organisationIds: ['a'],
      scopes: new Set(['workspaces.list']),
    });
    expect((await verifier.verify(await sign({ scope: [1, null, 'workspaces.list'] }))).scopes.size).toBe(1);
    expect((await verifier.verify(await sign({ scope: undefined }))).scopes.size).toBe(0);
  });

  it('accepts a token when the clocks differ by a few seconds', async () => {
    const token = await sign({ exp: nowSeconds() - 10, nbf: nowSeconds() + 10 });
    expect((await verifier.verify(token)).subject).toBe('admin-1');
  });
});

describe('a token is refused', () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['a token for another audience', { aud: 'another-api' }],
    ['a token without an audience', { aud: undefined }],
    ['a token from another issuer', { iss: 'https://evil.example.com' }],
    ['a token from an issuer that only begins like ours', { iss: `${ISSUER}.evil.example` }],
    ['a token without an issuer', { iss: undefined }],
    ['a token that has expired', { exp: nowSeconds() - 60 }],
    ['a token that never expires', { exp: undefined }],
    ['a token that expires in words', { exp: 'tomorrow' }],
    ['a token that is not valid yet', { nbf: nowSeconds() + 300 }],
    ['a token without a subject', { sub: undefined }],
    ['a token with an empty subject', { sub: '' }],
    ['a token whose subject is not text', { sub: 42 }],
    ['a token with a subject that no audit log could hold', { sub: 'x'.repeat(256) }],
    ['a token with a NUL character in its subject', { sub: 'admin\0' }],
    ['a token without an organisation', { organisation_id: undefined }],
    ['a token with an empty list of organisations', { organisation_id: [] }],
    ['a token with organisations in another form', { organisation_id: { id: ORGANISATION } }],
  ])('refuses %s', async (_what, claims) => {
    expect((await refusalOf(await sign(claims))).code).toBe('token_invalid');
  });

  it('names the missing claim and its setting to the caller and in the log', async () => {
    const by = verifierFor(server.url('/keys').href, { ADMIN_OIDC_ORGANISATION_CLAIM: 'tenants' });
    const { message, reason } = await refusalOf(await sign(), by);
    for (const text of [message, reason]) expect(text).toMatch(/tenants.*ADMIN_OIDC_ORGANISATION_CLAIM/);
  });

  it('refuses a token that a stranger signed under a known key id', async () => {
    expect((await refusalOf(await sign({}, stranger))).code).toBe('token_invalid');
  });

  it('refuses a token with an unknown key id', async () => {
    expect((await refusalOf(await sign({}, stranger, { kid: 'rsa-2' }))).code).toBe('token_invalid');
  });

  it('refuses a token whose claims were changed after it was signed', async () => {
    const [header = '', , signature = ''] = (await sign()).split('.');
    const claims = Buffer.from(JSON.stringify({ ...CLAIMS, exp: nowSeconds() + 300, sub: 'root' })).toString(
      'base64url',
    );
    expect((await refusalOf(`${header}.${claims}.${signature}`)).code).toBe('token_invalid');
  });

  it.each(['none', 'None', 'NONE', ''])('refuses a token without a signature: alg %j', async (alg) => {
    const claims = { ...CLAIMS, exp: nowSeconds() + 300 };
    for (const kid of ['rsa-1', undefined]) {
      expect((await refusalOf(forge({ alg, kid, typ: 'JWT' }, claims, () => ''))).code).toBe('token_invalid');
    }
  });

  it('refuses a token signed with the public key as a shared secret', async () => {
    const claims = { ...CLAIMS, exp: nowSeconds() + 300 };
    const pem = await exportSPKI(rsa.publicKey);
    const { n = '' } = await exportJWK(rsa.publicKey);
    for (const secret of [pem, pem.trim(), n, JSON.stringify(await exportJWK(rsa.publicKey))]) {
      const signature = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
      const token = forge({ alg: 'HS256', kid: 'rsa-1' }, claims, signature);
      expect((await refusalOf(token)).code).toBe('token_invalid');
    }
  });

  it('refuses a token that brings its own key or an address to fetch it', async () => {
    const evil = await startHttp(answerWithKeys);
    const jwk = await exportJWK(stranger.publicKey);
    for (const header of [
      { jwk },
      { jwk, kid: undefined },
      { jku: evil.url('/keys').href },
      { x5u: evil.url('/keys').href, kid: 'evil' },
      { kid: evil.url('/keys').href },
      { kid: '../../dev/null' },
    ]) {
      expect((await refusalOf(await sign({}, stranger, header))).code).toBe('token_invalid');
    }
    expect(evil.requests).toHaveLength(0);
    await evil.close();
  });

  it('refuses a token with a critical extension', async () => {
    const token = await sign();
    const [, claims = '', signature = ''] = token.split('.');
    const header = Buffer.from(JSON.stringify({ ...HEADER, crit: ['b64'], b64: false })).toString('base64url');
    expect((await refusalOf(`${header}.${claims}.${signature}`)).code).toBe('token_invalid');
  });

  it.each([
    ['text', 'junk'],
    ['two parts', 'a.b'],
    ['three parts of junk', 'a.b.c'],
    ['empty parts', '..'],
    ['an encrypted token', 'a.b.c.d.e'],
    ['empty objects', 'e30.e30.e30'],
    ['a very long header', `${'x'.repeat(10_000)}.e30.e30`],
  ])('refuses text that is not a token: %s', async (_what, token) =>
    expect((await refusalOf(token)).code).toBe('token_invalid'),
  );

  it('refuses with a hint for clients and a reason for the log, without the text of the token', async () => {
    const token = await sign({ aud: 'another-api' });
    const refusal = await refusalOf(token);
    expect(refusal).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer .*error="invalid_token"/) },
    });
    expect(refusal.reason).toBe('ERR_JWT_CLAIM_VALIDATION_FAILED');
    expect(`${refusal.message} ${refusal.reason}`).not.toContain(token);
  });

  it('refuses tokens when no identity provider is configured', async () => {
    const without = new AdminTokenVerifier(loadConfig({}), new EgressPolicy([]), clock, { warn: () => undefined });
    const before = server.requests.length;
    expect((await refusalOf(await sign(), without)).code).toBe('token_invalid');
    expect(server.requests.length).toBe(before);
  });
});

describe('the key set', () => {
  it('fetches the key set once, however many tokens name unknown keys', async () => {
    const before = server.requests.length;
    await verifier.verify(await sign());
    const bad = await Promise.all(Array.from({ length: 10 }, (_, at) => sign({}, stranger, { kid: `unknown-${at}` })));
    for (const token of bad) await refusalOf(token);
    expect(server.requests.length - before).toBe(1);
  });

  it('accepts tokens for an hour while the key set cannot be fetched', async () => {
    const token = await sign();
    await verifier.verify(token);
    answer = (_request, response) => void response.writeHead(503).end();
    monotonicMs += 59 * MINUTE;
    expect((await verifier.verify(token)).subject).toBe('admin-1');
    monotonicMs += MINUTE;
    expect((await refusalOf(token)).code).toBe('identity_provider_unavailable');
  });

  it('uses a key set that contains null', async () => {
    const keys = [null, { ...(await exportJWK(rsa.publicKey)), kid: 'rsa-1' }];
    answer = (_request, response) => void response.end(JSON.stringify({ keys }));
    expect((await verifier.verify(await sign())).subject).toBe('admin-1');
  });

  it('tries several keys for a token without a key id', async () => {
    const keys = [await exportJWK(stranger.publicKey), await exportJWK(rsa.publicKey)];
    answer = (_request, response) => void response.end(JSON.stringify({ keys }));
    expect((await verifier.verify(await sign({}, rsa, { kid: undefined }))).subject).toBe('admin-1');
    const unknown = await generateKeyPair('RS256');
    expect((await refusalOf(await sign({}, unknown, { kid: undefined }))).code).toBe('token_invalid');
  });

  it('fetches the key set once for concurrent tokens', async () => {
    const before = server.requests.length;
    const token = await sign();
    await Promise.all(Array.from({ length: 5 }, () => verifier.verify(token)));
    expect(server.requests.length - before).toBe(1);
  });
});

describe('an identity provider that cannot be asked', () => {
  let token: string;

  beforeEach(async () => {
    token = await sign();
  });

  afterEach(async () => {
    answer = answerWithKeys;
    monotonicMs += SECOND;
    // Nothing was learnt from the failure: a second later, the next token is verified.
    expect((await verifier.verify(token)).subject).toBe('admin-1');
  });

  it.each<readonly [string, RequestListener]>([
    ['fails', (_request, response) => void response.writeHead(500).end('{"keys":[]}')],
    ['has moved', (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end()],
    ['is missing', (_request, response) => void response.writeHead(404).end()],
    ['answers with a page', (_request, response) => void response.end('<html></html>')],
    ['answers with other JSON', (_request, response) => void response.end('{"jwks_uri":"elsewhere"}')],
    ['answers with invalid keys', (_request, response) => void response.end('{"keys":[1]}')],
    ['hangs up', (request) => void request.socket.destroy()],
    ['answers without end', (_request, response) => void response.end(`{"keys":["${'x'.repeat(2_000_000)}"]}`)],
  ])('returns 502 when the identity provider %s', async (_what, failure) => {
    answer = failure;
    const refusal = await refusalOf(token);
    expect(refusal).toMatchObject({ code: 'identity_provider_unavailable', status: 502 });
  });

  it('returns 502 when no identity provider listens', async () => {
    const gone = await startHttp(answerWithKeys);
    await gone.close();
    const refusal = await refusalOf(token, verifierFor(gone.url('/keys').href));
    expect(refusal.code).toBe('identity_provider_unavailable');
  });

  it('returns 502 when the identity provider never answers', async () => {
    const silent = await startTcp(() => undefined);
    const refusal = await refusalOf(token, verifierFor(silent.url('/keys').href));
    expect(refusal.code).toBe('identity_provider_unavailable');
    await silent.close();
  });

  it('sends no request to an identity provider that the egress rules forbid', async () => {
    for (const address of ['https://169.254.169.254/keys', 'https://10.0.0.1/keys', 'http://login.example.com/keys']) {
      expect((await refusalOf(token, verifierFor(address))).code).toBe('identity_provider_unavailable');
    }
  });
});
