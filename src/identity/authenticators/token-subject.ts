import { stringOrUndefined } from '../../common/json/read.js';
import { IdentityForwardingError } from '../forwarding/identity-forwarding.error.js';
import { TokenRefusedError } from './token-errors.js';
import type { ValidToken } from './token-validator.js';

/** OpenID Connect Core 1.0, section 2. Control characters would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]+$/;
/** Characters. The same section, and the log of calls. */
const MAX_SUBJECT_LENGTH = 255;

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

/** The claim that names the subject. */
interface NamedSubject {
  readonly kind: TokenSubject['subjectKind'];
  readonly claim: string;
  readonly value: unknown;
}

/**
 * Who a token is about.
 * @param fallbackIssuer when the token names no issuer: the address where it was verified
 * @throws TokenRefusedError
 * @throws IdentityForwardingError for a name that is too long: the token is valid, and a new one would have the same name
 */
export function subjectOf(token: ValidToken, fallbackIssuer: string): TokenSubject {
  const { kind, claim, value } = nameIn(token);
  if (value === undefined) throw new TokenRefusedError('no_subject');
  if (typeof value !== 'string' || !SUBJECT.test(value)) throw new TokenRefusedError('invalid_subject');
  if (value.length > MAX_SUBJECT_LENGTH) throw new IdentityForwardingError('subject_too_long', { claim });
  return { issuer: stringOrUndefined(token.claims['iss']) ?? fallbackIssuer, subject: value, subjectKind: kind };
}

/**
 * A `sub` that is present decides, and has to be a string (RFC 7519, section 4.1.2): if the client replaced an invalid one, all
 * users of that client would be one user. Without a `sub`, introspection may name the user (RFC 7662, section 2.2); otherwise
 * the client acts for itself.
 */
function nameIn({ claims, isIntrospected }: ValidToken): NamedSubject {
  const { sub, username, client_id, azp } = claims;
  if (sub !== undefined) return { kind: 'subject', claim: 'sub', value: sub };
  if (isIntrospected && username !== undefined && username !== null) {
    return { kind: 'username', claim: 'username', value: username };
  }
  return client_id === undefined || client_id === null
    ? { kind: 'client', claim: 'azp', value: azp ?? undefined }
    : { kind: 'client', claim: 'client_id', value: client_id };
}
