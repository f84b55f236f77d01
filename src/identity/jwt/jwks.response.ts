import type { PublicJwk } from './public-jwk.js';

export class JwkResponse implements PublicJwk {
  /** The type of the key. */
  readonly kty: 'RSA';
  /** Modulus. */
  readonly n: string;
  /** Exponent. */
  readonly e: string;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  /** The key is for signatures. */
  readonly use: 'sig';
  /** The algorithm of the signatures. */
  readonly alg: 'RS256';
}

/** The keys by which MCP servers verify `X-User-JWT`. */
export class JwksResponse {
  /** The public keys. */
  readonly keys: JwkResponse[];
}
