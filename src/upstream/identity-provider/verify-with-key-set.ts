import { errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';
import type { RemoteKeySet } from './remote-key-set.js';

/** The most keys to try for a token without a key id. Each try costs a signature check. */
const MAX_TRIES = 16;

/**
 * Verifies a token with the key set, and returns its claims.
 * @throws errors.JOSEError for every fault of the token; an unusable key counts as no matching key
 * @throws GatewayError `identity_provider_unavailable`
 */
export async function verifyWithKeySet(
  token: string,
  keySet: Pick<RemoteKeySet, 'keyFor'>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keySet.keyFor, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(token, error, options);
    throw isUnusableKey(error) ? new errors.JWKSNoMatchingKey(undefined, { cause: error }) : error;
  }
}

async function verifyWithAny(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tries = 0;
  for await (const key of candidates) {
    tries += 1;
    if (tries > MAX_TRIES) break;
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed || isUnusableKey(error))) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/** Whether jose or WebCrypto refused the key as too short or invalid. Other keys of its set may be usable. */
function isUnusableKey(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException || error instanceof errors.JWKInvalid;
}
