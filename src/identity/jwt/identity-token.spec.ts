import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { RFC_7515_A2, rfc7515A2Key } from '../__fixtures__/rfc-vectors.js';
import { type IdentityTokenRequest, signatureOf, signIdentityToken } from './identity-token.js';
import { SigningKeys } from './signing-keys.js';

const NOW = new Date('2026-11-21T10:00:00.750Z');
const SECONDS = Math.floor(NOW.getTime() / 1000);
const keys = new SigningKeys({
  JWT_PRIVATE_KEY: String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
  ),
});
const REQUEST: IdentityTokenRequest = { claims: { sub: 'u-1', email: 'a@example.com' }, expirySeconds: 300 };

async function signed(request: IdentityTokenRequest): Promise<string> {
  if (keys.current === undefined) throw new Error('there is a key');
  return (await signIdentityToken(request, keys.current, NOW)).text;
}

async function verified(request: IdentityTokenRequest): Promise<Awaited<ReturnType<typeof jwtVerify>>> {
  const keySet = createLocalJWKSet({ keys: keys.published.map((key) => ({ ...key })) });
  return jwtVerify(await signed(request), keySet, { currentDate: NOW, issuer: 'service-mcp-gateway' });
}

describe('signatureOf', () => {
  it('signs as in RFC 7515, appendix A.2', async () => {
    const signature = await signatureOf(RFC_7515_A2.signingInput, { privateKey: rfc7515A2Key() });
    expect(signature).toBe(RFC_7515_A2.signature);
  });
});

describe('signIdentityToken', () => {
  it('signs the header and claims of the interface, verifiable with the published keys', async () => {
    const { protectedHeader, payload } = await verified(REQUEST);
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: keys.published[0]?.kid });
    expect(payload).toEqual({
      sub: 'u-1',
      email: 'a@example.com',
      iss: 'service-mcp-gateway',
      iat: SECONDS,
      exp: SECONDS + 300,
    });
  });

  it.each([1, 60, 86_400])('sets an expiry after %d seconds', async (expirySeconds) => {
    const { payload } = await verified({ ...REQUEST, expirySeconds });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(expirySeconds);
  });

  it('sets the configured audience', async () => {
    expect((await verified({ ...REQUEST, audience: 'urn:server' })).payload.aud).toBe('urn:server');
  });

  it("does not let a user's claims change issuer, times or audience", async () => {
    const claims = { iss: 'evil', iat: 1, exp: 4_000_000_000, aud: 'evil', sub: 'u-1' };
    const { payload } = await verified({ claims, expirySeconds: 300, audience: 'urn:server' });
    expect(payload).toEqual({
      sub: 'u-1',
      aud: 'urn:server',
      iss: 'service-mcp-gateway',
      iat: SECONDS,
      exp: SECONDS + 300,
    });
  });

  it('keeps every character and type of a claim', async () => {
    const claims = { name: 'José 世界 😀 "\'\\\n\u007f', groups: ['a', { b: [1, null, true] }], ['__proto__']: 'x' };
    const { payload } = await verified({ claims, expirySeconds: 300 });
    expect(payload).toMatchObject({ name: claims.name, groups: claims.groups });
    expect(Object.hasOwn(payload, '__proto__')).toBe(true);
  });

  it('rejects without a usable key', async () => {
    const publicHalf = { kid: 'x', privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey };
    await expect(signIdentityToken(REQUEST, publicHalf, NOW)).rejects.toThrow();
  });
});
