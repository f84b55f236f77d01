import type { PublicJwk } from './public-jwk.js';

export class JwkResponse implements PublicJwk {
  readonly kty: 'RSA';
  /** Modulus. */
  readonly n: string;
  /** Exponent. */
  readonly e: string;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'RS256';
}

/** The keys by which MCP servers verify `X-User-JWT`. */
export class JwksResponse {
  readonly keys: JwkResponse[];
}
