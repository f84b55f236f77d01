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

/**
 * For `error_description` (RFC 6750, section 3). One for all reasons: which it was depends on the rules of the server, and a caller
 * without a valid token must not learn that a server has some.
 */
export const TOKEN_REFUSED = 'The access token is not valid for this server, or has expired';

/** The token is invalid, and the provider is fine. The reason is only logged. */
export class TokenRefusedError extends Error {
  constructor(
    readonly reason: TokenRefusal,
    private readonly options: { readonly cause?: unknown; readonly claim?: string } = {},
  ) {
    super(`token refused: ${reason}`, options);
    this.name = 'TokenRefusedError';
  }

  /** For the log, and for administrators. */
  get details(): string {
    const { claim } = this.options;
    return claim === undefined ? this.reason : `${this.reason}: ${claim}`;
  }
}

/** The token is valid, but lacks a scope (RFC 6750, section 3.1). */
export class InsufficientScopeError extends Error {
  constructor() {
    super('the token lacks a scope');
    this.name = 'InsufficientScopeError';
  }
}
