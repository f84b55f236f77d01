import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { JwtValidation } from '../config/identity-config.js';
import { TokenRefusedError } from './token-errors.js';

/** All headers of a request together: the server refuses more with 431. A token with too many claims must come as far as its refusal. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;
/** JWT types of access tokens (RFC 9068, section 2.1; RFC 8725, section 3.11). Many providers send none, or `JWT`. */
const ACCESS_TOKEN_TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

export interface UnverifiedToken {
  readonly header: ProtectedHeaderParameters;
  readonly payload: JWTPayload;
}

/** RFC 6750, section 2.1. */
export function isTokenText(token: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(token);
}

export function assertTokenSize(token: string): void {
  if (token.length > MAX_TOKEN_CHARACTERS) throw new TokenRefusedError('too_long');
}

/** Whether a token has the form of a signed JWT. Others can only be introspected. */
export function looksLikeJwt(token: string): boolean {
  return token.length <= MAX_TOKEN_CHARACTERS && readUnverified(token) !== undefined;
}

/** The issuer in a token, unverified: only for choosing who verifies it. */
export function unverifiedIssuer(token: string): string | undefined {
  return token.length > MAX_TOKEN_CHARACTERS ? undefined : readUnverified(token)?.payload.iss;
}

/**
 * Refuses a token that no signature can make valid, before any key is fetched.
 * @throws TokenRefusedError
 */
export function assertPlausible(token: string, rules: JwtValidation, now: Date): void {
  const unverified = readUnverified(token);
  if (unverified === undefined) throw new TokenRefusedError('malformed');
  const { header, payload } = unverified;
  const { typ } = header;
  if (typ !== undefined && !(typeof typ === 'string' && ACCESS_TOKEN_TYPES.has(typ.toLowerCase()))) {
    throw new TokenRefusedError('wrong_type');
  }
  if (!rules.algorithms.some((algorithm) => algorithm === header.alg)) throw new TokenRefusedError('algorithm');
  if (typeof payload.exp !== 'number') throw new TokenRefusedError('no_expiry');
  if (payload.exp <= now.getTime() / 1000 - rules.clockToleranceSeconds) throw new TokenRefusedError('expired');
}

function readUnverified(token: string): UnverifiedToken | undefined {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) };
  } catch (error) {
    if (error instanceof TypeError || error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
