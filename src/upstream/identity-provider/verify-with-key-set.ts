import { errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';
import type { RemoteKeySet } from './remote-key-set.js';

/** A token without a key id is tried with every key that fits; each try costs a signature check. */
const MAX_TRIES = 16;

/**
 * The claims of a token that a key of the set has signed.
 * @throws errors.JOSEError for every fault of the token; one with an unusable key has none
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

/** A key that is too short, or no key: what jose and WebCrypto throw when they are to use it. Others of its set may be fine. */
function isUnusableKey(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException || error instanceof errors.JWKInvalid;
}
