import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { generateApiKey } from '../../api-keys/api-key-format.js';
import { PRINCIPAL } from '../__fixtures__/principal.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import type { UserIdentityForwarding } from '../config/identity-config.js';
import { IdentityTokenCache } from '../jwt/identity-token.cache.js';
import { SigningKeys } from '../jwt/signing-keys.js';
import { BearerForwarder } from './bearer.forwarder.js';
import { ClaimsHeaderForwarder } from './claims-header.forwarder.js';
import { IdentityForwardingError } from './identity-forwarding.error.js';
import { IdentityForwarding } from './identity-forwarding.js';
import { JwtHeaderForwarder } from './jwt-header.forwarder.js';

const NOW = new Date('2026-11-21T10:00:00Z');
const keys = new SigningKeys({
  JWT_PRIVATE_KEY: String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
});
const CALLER: McpCaller = {
  kind: 'external',
  principal: PRINCIPAL,
  claims: { sub: 'u-1', email: 'jose@example.com', name: 'José 世界 😀 "x"\n\u007f', organisation_id: 'org-1' },
  sessionUser: 'u-1',
  externalToken: 'eyJ.user.token',
};

function forwardingWith(signingKeys: SigningKeys): IdentityForwarding {
  return new IdentityForwarding([
    new ClaimsHeaderForwarder(),
    new BearerForwarder(),
    new JwtHeaderForwarder(signingKeys, new IdentityTokenCache()),
  ]);
}

const forwarding = forwardingWith(keys);

async function valueOf(config: UserIdentityForwarding, caller = CALLER): Promise<string | undefined> {
  return (await forwarding.headerFor(caller, config, NOW))?.value;
}

async function failureOf(config: UserIdentityForwarding, caller = CALLER, by = forwarding): Promise<unknown> {
  try {
    return await by.headerFor(caller, config, NOW);
  } catch (error) {
    return error instanceof IdentityForwardingError ? error.failure : error;
  }
}

describe('IdentityForwarding without a configuration', () => {
  it('makes no header', async () => expect(await forwarding.headerFor(CALLER, undefined, NOW)).toBeUndefined());
});

describe('claims_header', () => {
  it('sends JSON in the default header or the configured one', async () => {
    const header = await forwarding.headerFor(CALLER, { method: 'claims_header' }, NOW);
    expect(header?.name).toBe('X-User-Claims');
    expect(header?.value).toBe('{"sub":"u-1","email":"jose@example.com","organisation_id":"org-1"}');
    const named = { method: 'claims_header', header_name: 'X-Who' } as const;
    expect((await forwarding.headerFor(CALLER, named, NOW))?.name).toBe('X-Who');
  });

  it('keeps every character and the order of claims', async () => {
    const value = (await valueOf({ method: 'claims_header', include_claims: ['name', 'sub'] })) ?? '';
    expect(value).toMatch(/^[\x20-\x7e]+$/);
    expect(Object.entries(JSON.parse(value))).toEqual([
      ['name', CALLER.claims['name']],
      ['sub', 'u-1'],
    ]);
  });

  it('sends an empty object when no claim is known', async () => {
    expect(await valueOf({ method: 'claims_header', include_claims: ['nobody'] })).toBe('{}');
  });

  it('accepts 8 KiB of claims and fails for more, without truncation', async () => {
    const sized = (length: number): McpCaller => ({ ...CALLER, claims: { sub: 'x'.repeat(length) } });
    expect(await valueOf({ method: 'claims_header' }, sized(8 * 1024 - 10))).toHaveLength(8 * 1024);
    expect(await failureOf({ method: 'claims_header' }, sized(8 * 1024 - 9))).toBe('too_large');
    expect(await failureOf({ method: 'claims_header' }, sized(9 * 1024))).toBe('too_large');
    // Counted as it is sent: six characters for each of these.
    const wide = { ...CALLER, claims: { sub: '世'.repeat(1400) } };
    expect(await failureOf({ method: 'claims_header' }, wide)).toBe('too_large');
  });
});

describe('bearer', () => {
  it("forwards the user's own token unchanged", async () => {
    const header = await forwarding.headerFor(CALLER, { method: 'bearer' }, NOW);
    expect(header).toEqual({ name: 'Authorization', value: 'Bearer eyJ.user.token' });
  });

  it('keeps the word Bearer in a configured header', async () => {
    const header = await forwarding.headerFor(CALLER, { method: 'bearer', header_name: 'X-Token' }, NOW);
    expect(header).toEqual({ name: 'X-Token', value: 'Bearer eyJ.user.token' });
  });

  it.each<readonly [string, Partial<McpCaller>]>([
    ['a caller with a key only', { kind: 'api_key', externalToken: undefined }],
    ['a gateway key that got into the wrong place', { kind: 'api_key', externalToken: generateApiKey() }],
    ['a token that was issued for the gateway', { kind: 'oauth', externalToken: 'eyJ.gateway.token' }],
    ['an external user without a token', { externalToken: undefined }],
  ])('fails for %s, and makes no header where the server allows anonymous callers', async (_what, change) => {
    const caller = { ...CALLER, ...change };
    expect(await failureOf({ method: 'bearer' }, caller)).toBe('no_token');
    expect(await forwarding.headerFor(caller, { method: 'bearer', allow_anonymous: true }, NOW)).toBeUndefined();
  });

  it('fails for a token that a header cannot hold', async () => {
    expect(await failureOf({ method: 'bearer' }, { ...CALLER, externalToken: 'a\r\nX-Admin: 1' })).toBe('not_sendable');
  });
});

describe('jwt_header', () => {
  const keySet = createLocalJWKSet({ keys: keys.published.map((key) => ({ ...key })) });

  it('sends a JWT that verifies with the published keys', async () => {
    const header = await forwarding.headerFor(CALLER, { method: 'jwt_header', audience: 'urn:s' }, NOW);
    expect(header?.name).toBe('X-User-JWT');
    const { payload } = await jwtVerify(header?.value ?? '', keySet, { currentDate: NOW, audience: 'urn:s' });
    expect(payload).toMatchObject({ sub: 'u-1', iss: 'service-mcp-gateway' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
  });

  it('signs only the included claims, separately for each server', async () => {
    const one = await valueOf({ method: 'jwt_header', include_claims: ['sub'] });
    const other = await valueOf({ method: 'jwt_header', include_claims: ['sub', 'email'] });
    expect(Object.keys(decodeJwt(one ?? ''))).toEqual(['sub', 'iss', 'iat', 'exp']);
    expect(Object.keys(decodeJwt(other ?? ''))).toEqual(['sub', 'email', 'iss', 'iat', 'exp']);
    expect(await valueOf({ method: 'jwt_header', include_claims: ['sub'] })).toBe(one);
  });

  it('has an audience, the organisation and the kind of credential only with jwt_audience', async () => {
    const claims = { sub: 'u-1', aud: 'urn:evil', org: 'evil', auth_method: 'evil' };
    const include_claims = Object.keys(claims);
    const tokenOf = async (more: object, change: Partial<McpCaller> = {}): Promise<unknown> => {
      const forward = { method: 'jwt_header', include_claims, ...more } as const;
      const header = await forwarding.headerFor({ ...CALLER, claims, ...change }, forward, NOW);
      const { aud, org, auth_method } = decodeJwt(header?.value ?? '');
      return [aud, org, auth_method];
    };
    const org = CALLER.principal.organisationId;
    expect(await tokenOf({})).toEqual([undefined, undefined, undefined]);
    expect(await tokenOf({ audience: 'urn:s' })).toEqual(['urn:s', undefined, undefined]);
    const own = { audience: 'urn:s', jwt_audience: true };
    expect(await tokenOf(own)).toEqual(['urn:s', org, 'external_idp']);
    expect(await tokenOf(own, { kind: 'oauth' })).toEqual(['urn:s', org, 'oauth']);
    expect(await tokenOf(own, { kind: 'api_key' })).toEqual(['urn:s', org, 'api_key']);
  });

  it('fails without a key instead of sending unsigned claims', async () => {
    expect(await failureOf({ method: 'jwt_header' }, CALLER, forwardingWith(new SigningKeys({})))).toBe(
      'no_signing_key',
    );
  });

  it('fails when signing fails', async () => {
    const broken = new IdentityTokenCache(1, () => Promise.reject(new Error('no entropy')));
    const by = new IdentityForwarding([new JwtHeaderForwarder(keys, broken)]);
    expect(await failureOf({ method: 'jwt_header' }, CALLER, by)).toBe('signing_failed');
  });

  it('fails when the token is too large for a header', async () => {
    const caller = { ...CALLER, claims: { sub: 'x'.repeat(7 * 1024) } };
    expect(await failureOf({ method: 'jwt_header' }, caller)).toBe('too_large');
  });
});

describe('IdentityForwarding with an unknown method', () => {
  it('fails', async () => {
    const by = new IdentityForwarding([new ClaimsHeaderForwarder()]);
    expect(await failureOf({ method: 'bearer' }, CALLER, by)).toBe('unknown_method');
  });

  it('returns only the documented code to callers', async () => {
    const error = new IdentityForwardingError('too_large');
    const hint = 'The identity is larger than 8 KiB: name fewer claims in include_claims.';
    const reason = `too_large: ${hint}`;
    expect(error).toMatchObject({ status: 502, code: 'identity_forwarding_failed', reason, hint });
    expect(error.message).not.toContain('8 KiB');
  });
});
