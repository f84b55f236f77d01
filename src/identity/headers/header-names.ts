import { IDENTITY_HEADERS } from '../../common/constants.js';
import { isProtectedName } from './protected-names.js';

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FOLDED = /^[a-z0-9-]+$/;

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/**
 * Folds a name for comparison: every character but letters and digits becomes a dash. Servers behind CGI or WSGI see one
 * variable for `X-User`, `X_User` and `X.User` (CVE-2025-64484 is about a proxy without this).
 */
export function foldHeaderName(name: string): string {
  // Most names are folded already, and every name of a request is folded.
  if (FOLDED.test(name)) return name;
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

/** What the rules say about a client's header, by its name alone, in lower case. */
export interface HeaderNameFacts {
  readonly folded: string;
  readonly isNeverForwarded: boolean;
  readonly isProtocol: boolean;
}

/** Only the first names are cached. Clients use few names; a client that sends random ones must not fill the memory. */
const known = new Map<string, HeaderNameFacts>();
const MAX_KNOWN = 500;
const MAX_KNOWN_CHARACTERS = 64;

/** Cached, since every request has the same names and a name takes a dozen checks. */
export function headerNameFacts(name: string): HeaderNameFacts {
  const found = known.get(name);
  if (found !== undefined) return found;
  const folded = foldHeaderName(name);
  const isProtocol = isProtocolHeader(name);
  // A parameter of a tool may have any name: `Mcp-Param-User-Id` says what the body says.
  const facts = { folded, isNeverForwarded: !isProtocol && isNeverForwarded(folded), isProtocol };
  if (known.size < MAX_KNOWN && name.length <= MAX_KNOWN_CHARACTERS) known.set(name, facts);
  return facts;
}

/** Headers of one connection (RFC 9110, section 7.6.1), and headers that frame a message. */
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

/** Whether a client's header is dropped under every forwarding rule. */
export function isNeverForwarded(folded: string): boolean {
  return folded === 'host' || isHopByHop(folded) || IDENTITY_HEADERS.has(folded) || isProtectedName(folded);
}

/** Always forwarded: the protocol needs them, or the unchanged body does. */
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

/** @param name in lower case, not folded. The server chooses names of parameters, which may have any character of a token. */
function isProtocolHeader(name: string): boolean {
  return PROTOCOL_HEADERS.has(name) || (name.startsWith(PARAMETER_PREFIX) && name.length > PARAMETER_PREFIX.length);
}

/** Headers that a request may have once. Node keeps the first of some and joins others, so two would be ambiguous. */
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

/** The gateway writes these after the configured ones. */
const WRITTEN_LATER: ReadonlySet<string> = new Set(['accept-encoding', 'x-gateway-trace-id']);
/** Of requests and of answers. */
const OF_GATEWAY: ReadonlySet<string> = new Set([
  'allow',
  'cache-control',
  'date',
  'etag',
  'idempotency-key',
  'idempotent-replayed',
  'last-modified',
  'location',
  'retry-after',
  'server',
  'vary',
  'www-authenticate',
  'x-accel-buffering',
  'x-powered-by',
  'x-should-retry',
]);
const GATEWAY_FAMILIES = /^x-(gateway|portkey)-|^access-control-/;
/** Ids of requests and traces. Servers and proxies log them. */
const TRACING =
  /^trace(parent|state)$|^baggage$|^b3$|^(x-)?((client-)?request|correlation|trace|transaction)-id$|^x-(b3|datadog)-|^uber(ctx-|-trace-id$)|^sentry-trace$|^newrelic$|^x-amzn-trace-id$|^x-cloud-trace-context$/;

/** Whether the gateway reads the header of its own clients, or sends it itself. */
export function isGatewayHeader(folded: string): boolean {
  return OF_GATEWAY.has(folded) || GATEWAY_FAMILIES.test(folded) || TRACING.test(folded);
}

/** Why a server's configuration may not set this header, as the rest of a sentence about the field. Undefined when it may. */
export function whyNotWritable(name: string): string | undefined {
  if (!isHeaderName(name)) return 'must be a header name (RFC 9110, section 5.6.2)';
  const folded = foldHeaderName(name);
  if (isHopByHop(folded) || folded === 'host' || folded === 'proxy-authorization')
    return 'must not name a header of the connection';
  if (folded.startsWith('content-') || folded === 'accept' || folded === 'last-event-id' || folded.startsWith('mcp-')) {
    return 'must not name a header of the protocol';
  }
  if (['cookie', 'cookie2', 'set-cookie', 'origin'].includes(folded)) return 'must not name a cookie or the origin';
  if (WRITTEN_LATER.has(folded)) return 'must not name a header that the gateway sets itself';
  return undefined;
}
