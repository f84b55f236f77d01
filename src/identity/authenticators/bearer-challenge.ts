export interface BearerChallenge {
  /** RFC 9728, section 5.1: from here, clients find out where to log in. */
  readonly resourceMetadata?: string | undefined;
  /** RFC 6750, section 3.1. Absent when the request brought no credentials. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | undefined;
  readonly errorDescription?: string | undefined;
  /** All scopes that the operation needs, not only those that are missing. */
  readonly scopes?: readonly string[] | undefined;
}

type ChallengeParameter = readonly [name: string, value: string];

/**
 * What a client may hear of another server's challenge: what is wrong, and what to ask for (RFC 6750, section 3; RFC 9470, section 3).
 * Nothing that names an address, since that may be a place to log in.
 */
const RELAYED: ReadonlySet<string> = new Set(['error', 'error_description', 'scope', 'acr_values', 'max_age']);
/** There are clients that look for it anywhere in the text. */
const METADATA = 'resource_metadata';
const MAX_RELAYED_LENGTH = 2_048;

/**
 * A scheme, or a parameter of the last one, with the commas and blanks before it (RFC 9110, section 11.6.1). What should be quoted and is
 * not is taken up to the next comma or blank, as clients do.
 */
const PART = /[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/gy;

/** Value of `WWW-Authenticate` (RFC 9110, section 11.6.1). */
export function bearerChallenge(challenge: BearerChallenge): string {
  return writeChallenge([
    [METADATA, challenge.resourceMetadata],
    ['error', challenge.error],
    ['error_description', challenge.errorDescription],
    ['scope', challenge.scopes === undefined || challenge.scopes.length === 0 ? undefined : challenge.scopes.join(' ')],
  ]);
}

/**
 * What a server's own challenge says, beside the address of the gateway's metadata (RFC 9728): it may ask for more scopes, or for a
 * stronger login. Undefined when it says nothing of that kind, or too much.
 * @param values of its `WWW-Authenticate`; the first Bearer challenge counts
 */
export function relayedChallenge(values: readonly string[], resourceMetadata: string | undefined): string | undefined {
  const said = new Map<string, string>();
  for (const [name, value] of readBearerChallenge(values)) {
    if (RELAYED.has(name) && !said.has(name) && !value.toLowerCase().includes(METADATA)) said.set(name, value);
  }
  if (said.size === 0) return undefined;
  const challenge = writeChallenge([[METADATA, resourceMetadata], ...said]);
  return challenge.length > MAX_RELAYED_LENGTH ? undefined : challenge;
}

/** Names in lower case. */
function readBearerChallenge(values: readonly string[]): readonly ChallengeParameter[] {
  let found: ChallengeParameter[] | undefined;
  for (const [, name = '', quotedValue, token] of values.flatMap((each) => [...each.matchAll(PART)])) {
    const value = quotedValue?.replaceAll(/\\(.)/g, '$1') ?? token;
    if (value !== undefined) found?.push([name.toLowerCase(), value]);
    else if (found !== undefined) return found;
    else if (name.toLowerCase() === 'bearer') found = [];
  }
  return found ?? [];
}

function writeChallenge(parameters: readonly (readonly [string, string | undefined])[]): string {
  const written = parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`]));
  return written.length === 0 ? 'Bearer realm="tollgate"' : `Bearer ${written.join(', ')}`;
}

/** RFC 9110, section 5.6.4; what no header may hold becomes a question mark. */
function quoted(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`;
}
