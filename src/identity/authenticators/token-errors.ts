/** Why a user's token is refused. */
export type TokenRefusal =
  | 'malformed'
  | 'too_long'
  | 'wrong_type'
  | 'algorithm'
  | 'unknown_key'
  | 'signature'
  | 'no_expiry'
  | 'expired'
  | 'not_yet_valid'
  | 'issuer'
  | 'audience'
  | 'no_subject'
  | 'invalid_subject'
  | 'missing_claim'
  | 'claim_value'
  | 'inactive';

/** The token is invalid, and the provider is fine. The reason is only logged; callers see `description`. */
export class TokenRefusedError extends Error {
  constructor(
    readonly reason: TokenRefusal,
    options?: { cause?: unknown },
  ) {
    super(`token refused: ${reason}`, options);
    this.name = 'TokenRefusedError';
  }

  /** For `error_description` (RFC 6750, section 3): enough for an honest client to renew its token, and no help for an attacker. */
  get description(): string {
    return this.reason === 'expired' || this.reason === 'inactive'
      ? 'The access token has expired or was revoked'
      : 'The access token is not valid for this server';
  }
}

/** The token is valid, but lacks a scope (RFC 6750, section 3.1). */
export class InsufficientScopeError extends Error {
  constructor() {
    super('the token lacks a scope');
    this.name = 'InsufficientScopeError';
  }
}
