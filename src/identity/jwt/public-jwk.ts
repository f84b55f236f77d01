import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { readObject, readString } from '../../common/json/read.js';

/** A signature key with the members that the key set publishes (RFC 7517, section 4). */
export interface PublicJwk {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'RS256';
}

/** The public half of an RSA key, named by its thumbprint. */
export function toPublicJwk(key: KeyObject): PublicJwk {
  // Exported from the public key, since the JWK of a private key has secret members (RFC 7518, section 6.3.2).
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const jwk = readObject(publicKey.export({ format: 'jwk' }), 'jwk');
  const n = readString(jwk['n'], 'jwk.n');
  const e = readString(jwk['e'], 'jwk.e');
  return { kty: 'RSA', n, e, kid: rsaThumbprint(n, e), use: 'sig', alg: 'RS256' };
}

/** RFC 7638, section 3: SHA-256 over the required members in lexical order. The same on all replicas and after restarts. */
export function rsaThumbprint(n: string, e: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');
}
