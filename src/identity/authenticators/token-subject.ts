import { type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import { TokenRefusedError } from './token-refused.error.js';

/** OpenID Connect Core 1.0, section 2. Longer ones, and control characters, would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * Who a token speaks of. Subjects are unique only with their issuer (OpenID Connect Core 1.0, section 5.7). An introspection
 * answer may have no subject (RFC 7662, section 2.2), then the client speaks for itself.
 * @param fallbackIssuer for answers that name none: where the token was verified
 * @throws TokenRefusedError
 */
export function subjectOf(
  claims: JsonObject,
  fallbackIssuer: string,
): { readonly issuer: string; readonly subject: string } {
  const subject = [claims['sub'], claims['client_id'], claims['azp']]
    .map(stringOrUndefined)
    .find((value) => value !== undefined && value !== '');
  if (subject === undefined || !SUBJECT.test(subject)) throw new TokenRefusedError('no_subject');
  return { issuer: stringOrUndefined(claims['iss']) ?? fallbackIssuer, subject };
}
