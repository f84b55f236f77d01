import { errors, jwtVerify, type JWTVerifyOptions } from 'jose';
import type { JsonObject } from '../../common/json/read.js';
import type { JwtValidation } from '../config/identity-config.js';
import type { JwksClient } from './jwks-client.js';
import { assertPlausible } from './token-form.js';
import { type TokenRefusal, TokenRefusedError } from './token-refused.error.js';

/** A token without a key id is tried with every key that fits; each try costs a signature check. */
const MAX_TRIES = 16;

/**
 * The claims of a signed token whose signature, issuer, audience and times are right.
 * @throws TokenRefusedError
 * @throws GatewayError `identity_provider_unavailable`
 */
export async function verifyJwt(
  token: string,
  rules: JwtValidation,
  keySet: Pick<JwksClient, 'keyFor'>,
  now: Date,
): Promise<JsonObject> {
  assertPlausible(token, rules, now);
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    clockTolerance: rules.clockToleranceSeconds,
    currentDate: now,
    // jose lets tokens without an end through unless it is told not to.
    requiredClaims: ['exp'],
    ...(rules.issuer === undefined ? {} : { issuer: rules.issuer }),
    ...(rules.audience === undefined ? {} : { audience: [...rules.audience] }),
  };
  try {
    return (await jwtVerify(token, keySet.keyFor, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(token, error, options);
    throw toRefusal(error);
  }
}

async function verifyWithAny(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JsonObject> {
  let tries = 0;
  for await (const key of candidates) {
    tries += 1;
    if (tries > MAX_TRIES) break;
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed || isUnusableKey(error))) throw toRefusal(error);
    }
  }
  throw new TokenRefusedError('signature');
}

/** What is neither an error of jose nor of a key is not the token's fault, and comes back as it is. */
function toRefusal(error: unknown): unknown {
  if (isUnusableKey(error)) return new TokenRefusedError('unknown_key', { cause: error });
  return error instanceof errors.JOSEError ? new TokenRefusedError(reasonOf(error), { cause: error }) : error;
}

/** Of a key that is too short, or no key: what jose and WebCrypto throw when they are to use it. Others of its set may be fine. */
function isUnusableKey(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}

function reasonOf(error: errors.JOSEError): TokenRefusal {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key';
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) return 'algorithm';
  if (error instanceof errors.JWTClaimValidationFailed) return REASONS_BY_CLAIM[error.claim] ?? 'malformed';
  return 'malformed';
}

const REASONS_BY_CLAIM: Readonly<Record<string, TokenRefusal>> = {
  iss: 'issuer',
  aud: 'audience',
  nbf: 'not_yet_valid',
  exp: 'no_expiry',
};
