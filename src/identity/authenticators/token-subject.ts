import { stringOrUndefined } from '../../common/json/read.js';
import { TokenRefusedError } from './token-errors.js';
import type { ValidToken } from './token-validator.js';

/** OpenID Connect Core 1.0, section 2. Longer ones, and control characters, would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * Who a token is about. Two subjects are equal only if all fields are: a subject is unique only within its issuer (OpenID
 * Connect Core 1.0, section 5.7).
 */
export interface TokenSubject {
  readonly issuer: string;
  readonly subject: string;
  /** The kind of claim that names the subject: a client may have the name of a user. */
  readonly subjectKind: 'subject' | 'username' | 'client';
}

/**
 * Who a token is about.
 * @param fallbackIssuer when the token names no issuer: the address where it was verified
 * @throws TokenRefusedError
 */
export function subjectOf(token: ValidToken, fallbackIssuer: string): TokenSubject {
  const [subjectKind, subject] = nameIn(token);
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) throw new TokenRefusedError('no_subject');
  return { issuer: stringOrUndefined(token.claims['iss']) ?? fallbackIssuer, subject, subjectKind };
}

/**
 * A `sub` that is present decides, and has to be a string (RFC 7519, section 4.1.2): if the client replaced an invalid one, all
 * users of that client would be one user. Without a `sub`, introspection may name the user (RFC 7662, section 2.2); otherwise
 * the client acts for itself.
 */
function nameIn({ claims, isIntrospected }: ValidToken): readonly [TokenSubject['subjectKind'], unknown] {
  const { sub, username, client_id, azp } = claims;
  if (sub !== undefined) return ['subject', sub];
  if (isIntrospected && username !== undefined && username !== null) return ['username', username];
  return ['client', client_id ?? azp];
}
