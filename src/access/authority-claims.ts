import type { JsonObject } from '../common/json/read.js';

/**
 * Claims of a user that only an authority can make: the gateway, an identity provider, an authorization server. The
 * maker of a key knows its user by name, but has seen neither a log-in of the user nor a consent.
 */
const AUTHORITY_CLAIMS: ReadonlySet<string> = new Set(
  [
    // Of the token itself (RFC 7519, section 4.1; OpenID Connect Core 1.0, sections 2 and 3).
    'iss sub aud exp iat nbf jti nonce at_hash c_hash s_hash sid',
    // Of the log-in.
    'amr acr auth_time email_verified phone_number_verified',
    // Of the client, and what it may do for the user (RFC 8693, section 4; RFC 7800).
    'scope scp client_id azp act may_act cnf',
    // Set by this gateway.
    'user_id organisation_id workspace_id org auth_method',
  ].flatMap((names) => names.split(' ')),
);

const MAX_CHARACTERS = 64;
/** As all of them are spelled. */
const PLAIN = /^[\d_a-z]*$/;

/** The first claim that only an authority can make; undefined when there is none. */
export function authorityClaimIn(claims: JsonObject): string | undefined {
  return Object.keys(claims).find(isAuthorityClaim);
}

/** Some JSON parsers ignore case, and take look-alike letters for the same (Go reads `iſs` as `iss`). */
export function isAuthorityClaim(name: string): boolean {
  // Longer ones are none, and normalizing a long text can take long.
  return name.length <= MAX_CHARACTERS && AUTHORITY_CLAIMS.has(name.normalize('NFKC').toLowerCase());
}

/** Whether the name is that of an authority's claim in another spelling, which such a parser takes for that claim. */
export function isDisguisedClaim(name: string): boolean {
  return !PLAIN.test(name) && isAuthorityClaim(name);
}
