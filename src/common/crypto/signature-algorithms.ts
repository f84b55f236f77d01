/**
 * Accepted signature algorithms of tokens (`alg`). Asymmetric only (RFC 8725, section 3.1): with a shared secret, a
 * public key could be used to sign. `EdDSA` and `Ed25519` are the old and the new name of one algorithm (RFC 9864).
 */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];
