export interface BearerChallenge {
  /** RFC 9728, section 5.1: from here, clients find out where to log in. */
  readonly resourceMetadata?: string | undefined;
  /** RFC 6750, section 3.1. Absent when the request brought no credentials. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | undefined;
  readonly errorDescription?: string | undefined;
  /** All scopes that the operation needs, not only those that are missing. */
  readonly scopes?: readonly string[] | undefined;
}

/** Value of `WWW-Authenticate` (RFC 9110, section 11.6.1). */
export function bearerChallenge(challenge: BearerChallenge): string {
  const parameters = [
    ['resource_metadata', challenge.resourceMetadata],
    ['error', challenge.error],
    ['error_description', challenge.errorDescription],
    ['scope', challenge.scopes === undefined || challenge.scopes.length === 0 ? undefined : challenge.scopes.join(' ')],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`]));
  return parameters.length === 0 ? 'Bearer realm="tollgate"' : `Bearer ${parameters.join(', ')}`;
}

/** RFC 9110, section 5.6.4; what no header may hold becomes a question mark. */
function quoted(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`;
}
