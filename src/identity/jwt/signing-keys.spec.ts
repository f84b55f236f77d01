import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { calculateJwkThumbprint } from 'jose';
import { RFC_7638 } from '../__fixtures__/rfc-vectors.js';
import { rsaThumbprint, toPublicJwk } from './public-jwk.js';
import { SigningKeys } from './signing-keys.js';

const pairs = Array.from({ length: 3 }, () => generateKeyPairSync('rsa', { modulusLength: 2048 }));
const current = String(pairs[0]?.privateKey.export({ type: 'pkcs8', format: 'pem' }));

function publicPem(at: number): string {
  return String(pairs[at]?.publicKey.export({ type: 'spki', format: 'pem' }));
}

describe('rsaThumbprint', () => {
  it('returns the thumbprint of RFC 7638', () => {
    expect(rsaThumbprint(RFC_7638.n, RFC_7638.e)).toBe(RFC_7638.thumbprint);
  });

  it('agrees with jose, for both halves of a key pair', async () => {
    for (const { privateKey, publicKey } of pairs) {
      const jwk = toPublicJwk(privateKey);
      expect(jwk.kid).toBe(await calculateJwkThumbprint({ kty: jwk.kty, n: jwk.n, e: jwk.e }));
      expect(toPublicJwk(publicKey)).toEqual(jwk);
    }
  });
});

describe('SigningKeys', () => {
  it('publishes no key without a private key', () => {
    const keys = new SigningKeys({});
    expect(keys.current).toBeUndefined();
    expect(keys.published).toEqual([]);
  });

  it('publishes exactly the members of the interface, none of them private', () => {
    const { published } = new SigningKeys({ JWT_PRIVATE_KEY: current });
    expect(published).toHaveLength(1);
    expect(Object.keys(published[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(published[0]).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' });
  });

  it('publishes the current key, the next ones and the previous ones', () => {
    const keys = new SigningKeys({
      JWT_PRIVATE_KEY: current,
      JWT_PUBLIC_KEYS_NEXT: publicPem(1),
      JWT_PUBLIC_KEYS_PREVIOUS: publicPem(2),
    });
    expect(keys.published.map(({ kid }) => kid)).toEqual(pairs.map(({ publicKey }) => toPublicJwk(publicKey).kid));
    expect(keys.published[0]?.kid).toBe(keys.current?.kid);
  });

  it('publishes a key once that a rotation names twice', () => {
    const keys = new SigningKeys({ JWT_PRIVATE_KEY: current, JWT_PUBLIC_KEYS_PREVIOUS: publicPem(0) + publicPem(0) });
    expect(keys.published).toHaveLength(1);
  });

  it('still publishes other keys when the private key is removed', () => {
    const keys = new SigningKeys({ JWT_PUBLIC_KEYS_PREVIOUS: publicPem(1) });
    expect(keys.current).toBeUndefined();
    expect(keys.published).toHaveLength(1);
  });

  it('throws for an invalid key', () => {
    expect(() => new SigningKeys({ JWT_PRIVATE_KEY: current.slice(0, 100) })).toThrow(/PEM/);
  });
});
