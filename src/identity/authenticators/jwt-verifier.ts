import { errors, type JWTVerifyOptions } from 'jose';
import type { JsonObject } from '../../common/json/read.js';
import type { JwtValidation } from '../config/identity-config.js';
import type { RemoteKeySet } from '../../upstream/identity-provider/remote-key-set.js';
import { verifyWithKeySet } from '../../upstream/identity-provider/verify-with-key-set.js';
import { assertPlausible } from './token-form.js';
import { type TokenRefusal, TokenRefusedError } from './token-errors.js';

/**
 * The claims of a signed token with a valid signature, issuer, audience and times.
 * @throws TokenRefusedError
 * @throws GatewayError `identity_provider_unavailable`
 */
export async function verifyJwt(
  token: string,
  rules: JwtValidation,
  keySet: Pick<RemoteKeySet, 'keyFor'>,
  now: Date,
): Promise<JsonObject> {
  assertPlausible(token, rules, now);
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    clockTolerance: rules.clockToleranceSeconds,
    currentDate: now,
    // By default, jose accepts tokens without an expiry.
    requiredClaims: ['exp'],
    ...(rules.issuer === undefined ? {} : { issuer: rules.issuer }),
    ...(rules.audience === undefined ? {} : { audience: [...rules.audience] }),
  };
  try {
    return await verifyWithKeySet(token, keySet, options);
  } catch (error) {
    throw toRefusal(error);
  }
}

/** Errors that are not from jose are not the token's fault, and are returned unchanged. */
function toRefusal(error: unknown): unknown {
  return error instanceof errors.JOSEError ? new TokenRefusedError(reasonOf(error), { cause: error }) : error;
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
