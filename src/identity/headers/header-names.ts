import { IDENTITY_HEADERS } from '../../common/http/identity-headers.js';

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FOLDED = /^[a-z0-9-]+$/;

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/**
 * Servers behind CGI or WSGI see one variable for `X-User`, `X_User` and `X.User`: names are compared with everything but
 * letters and digits taken for a dash (CVE-2025-64484 is the lack of it).
 */
export function foldHeaderName(name: string): string {
  // As nearly all names come, and every name of a request is folded.
  if (FOLDED.test(name)) return name;
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

/** What the rules say of a client's header by its name alone, in lower case. */
export interface HeaderNameFacts {
  readonly folded: string;
  readonly isNeverForwarded: boolean;
  readonly isProtocol: boolean;
}

/** Of the names that came first. Those of clients are few; somebody who sends others must not fill the memory. */
const known = new Map<string, HeaderNameFacts>();
const MAX_KNOWN = 500;
const MAX_KNOWN_CHARACTERS = 64;

/** Remembered, since every request brings the same names, and to look at one takes a dozen steps. */
export function headerNameFacts(name: string): HeaderNameFacts {
  const found = known.get(name);
  if (found !== undefined) return found;
  const folded = foldHeaderName(name);
  const facts = { folded, isNeverForwarded: isNeverForwarded(folded), isProtocol: isProtocolHeader(name) };
  if (known.size < MAX_KNOWN && name.length <= MAX_KNOWN_CHARACTERS) known.set(name, facts);
  return facts;
}

/** Of one connection, not of the message (RFC 9110, section 7.6.1), and what frames or addresses it. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isHopByHop(folded: string): boolean {
  return HOP_BY_HOP.has(folded);
}

/** Credentials for the gateway or for other sites, and what only the gateway can say about its caller. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'api-key',
  'apikey',
  'authorization',
  'cookie',
  'cookie2',
  'forwarded',
  'host',
  'origin',
  'proxy-authorization',
  'remote-email',
  'remote-groups',
  'remote-name',
  'remote-user',
  'set-cookie',
  'x-access-token',
  'x-api-key',
  'x-apikey',
  'x-auth-token',
  'x-real-ip',
  'x-remote-user',
]);
const NEVER_FORWARDED_PREFIXES = ['x-gateway-', 'x-portkey-', 'x-forwarded-'] as const;
/**
 * By which other proxies tell a server who the user is: a server that stood behind one of them may still believe them. Of oauth2-proxy,
 * Cloudflare Access, the load balancers and identity-aware proxies of the large clouds, Authentik, Authelia, Pomerium, Grafana's
 * auth proxy, Tailscale.
 */
const FOREIGN_IDENTITY_PREFIXES = [
  'cf-access-authenticated-user-',
  'cf-access-jwt-assertion',
  'tailscale-user-',
  'x-amzn-oidc-',
  'x-auth-request-',
  'x-authentik-',
  'x-goog-authenticated-user-',
  'x-goog-iap-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-pomerium-claim-',
  'x-pomerium-jwt-assertion',
  'x-webauth-',
] as const;
const KEPT_PREFIXES = [...NEVER_FORWARDED_PREFIXES, ...FOREIGN_IDENTITY_PREFIXES];

/** Whether a client's header stays at the gateway under every forwarding rule. */
export function isNeverForwarded(folded: string): boolean {
  return (
    NEVER_FORWARDED.has(folded) ||
    KEPT_PREFIXES.some((prefix) => folded.startsWith(prefix)) ||
    isHopByHop(folded) ||
    IDENTITY_HEADERS.has(folded)
  );
}

/** Always forwarded: without them the protocol breaks, or the body, which passes as it is, cannot be read. */
const PROTOCOL_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-encoding',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
]);
const PARAMETER_PREFIX = 'mcp-param-';

/** @param name in lower case, not folded. Names of parameters are the server's own and may have any character of a token. */
function isProtocolHeader(name: string): boolean {
  return PROTOCOL_HEADERS.has(name) || (name.startsWith(PARAMETER_PREFIX) && name.length > PARAMETER_PREFIX.length);
}

/** Of which a request has at most one. Node keeps the first of some and joins others: which one counts must not be a guess. */
export const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
]);

/** Why a server's configuration may not write a header of this name; reads on from the field's name. Undefined: it may. */
export function whyNotWritable(name: string): string | undefined {
  if (!isHeaderName(name)) return 'must be a header name (RFC 9110, section 5.6.2)';
  const folded = foldHeaderName(name);
  if (isHopByHop(folded) || folded === 'host' || folded === 'proxy-authorization')
    return 'must not name a header of the connection';
  if (folded.startsWith('content-') || folded === 'accept' || folded === 'last-event-id' || folded.startsWith('mcp-')) {
    return 'must not name a header of the protocol';
  }
  if (['cookie', 'cookie2', 'set-cookie', 'origin'].includes(folded)) return 'must not name a cookie or the origin';
  return undefined;
}
