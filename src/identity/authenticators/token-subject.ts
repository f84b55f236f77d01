import { stringOrUndefined } from '../../common/json/read.js';
import { TokenRefusedError } from './token-refused.error.js';
import type { ValidToken } from './token-validator.js';

/** OpenID Connect Core 1.0, section 2. Longer ones, and control characters, would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * Whom a token speaks of. Two are the same only in all of it: subjects are unique with their issuer alone (OpenID Connect Core 1.0,
 * section 5.7).
 */
export interface TokenSubject {
  readonly issuer: string;
  readonly subject: string;
  /** What names the subject: a client may be called like a user. */
  readonly subjectKind: 'subject' | 'username' | 'client';
}

/**
 * Who a token speaks of.
 * @param fallbackIssuer for answers that name none: where the token was verified
 * @throws TokenRefusedError
 */
export function subjectOf(token: ValidToken, fallbackIssuer: string): TokenSubject {
  const [subjectKind, subject] = nameIn(token);
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) throw new TokenRefusedError('no_subject');
  return { issuer: stringOrUndefined(token.claims['iss']) ?? fallbackIssuer, subject, subjectKind };
}

/**
 * A `sub` that is there decides, whatever it is. It has to be a string (RFC 7519, section 4.1.2; a number is none): if the client stood
 * in for a wrong one, all of its users would be one. Without a `sub`, introspection may name the user in another way (RFC 7662,
 * section 2.2), else the client speaks for itself.
 */
function nameIn({ claims, isIntrospected }: ValidToken): readonly [TokenSubject['subjectKind'], unknown] {
  const { sub, username, client_id, azp } = claims;
  if (sub !== undefined) return ['subject', sub];
  if (isIntrospected && username !== undefined && username !== null) return ['username', username];
  return ['client', client_id ?? azp];
}
