export interface BearerChallenge {
  /** RFC 9728, section 5.1: the address of the metadata that names where to log in. */
  readonly resourceMetadata?: string | undefined;
  /** RFC 6750, section 3.1. Absent when the request brought no credentials. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | undefined;
  readonly errorDescription?: string | undefined;
  /** All scopes that the operation needs, not only the missing ones. */
  readonly scopes?: readonly string[] | undefined;
}

type ChallengeParameter = readonly [name: string, value: string];

/**
 * Parameters of the MCP server's own challenge that are relayed: what is wrong, and what to ask for (RFC 6750, section 3; RFC 9470,
 * section 3). None that names an address, since a client could log in there.
 */
const RELAYED: ReadonlySet<string> = new Set(['error', 'error_description', 'scope', 'acr_values', 'max_age']);
/** Some clients search for it anywhere in the text. */
const METADATA = 'resource_metadata';
const MAX_RELAYED_LENGTH = 2_048;

/**
 * A scheme, or a parameter of the last scheme, with the commas and spaces before it (RFC 9110, section 11.6.1). A value that should be
 * quoted and is not ends at the next comma or space, as clients read it.
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
 * The server's own challenge with the address of the gateway's metadata (RFC 9728): the server may ask for more scopes or a
 * stronger login. Undefined when nothing can be relayed, or too much would be.
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

/** RFC 9110, section 5.6.4. A character that a header cannot hold becomes a question mark. */
function quoted(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`;
}
