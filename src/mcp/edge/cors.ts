import type { IncomingMessage, ServerResponse } from 'node:http';

/** Written out: a literal `*` does not cover `Authorization`. */
const ALLOWED_HEADERS = [
  'content-type',
  'accept',
  'authorization',
  'x-gateway-api-key',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
] as const;
const EXPOSED_HEADERS = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, x-gateway-trace-id';
const MAX_AGE_SECONDS = '600';
/**
 * Families of headers that are allowed when a preflight asks for them: parameters of tools (`Mcp-Param-*`, revision 2026-07-28),
 * and the gateway's own under both prefixes. Only characters of an RFC 9110 token, because the names are echoed in our header.
 */
const ASKED_FOR = /^(?:mcp-param|x-gateway|x-portkey)-[!#$%&'*+.^_`|~0-9a-z-]+$/;
const MAX_ASKED_FOR = 32;

/** Lets a page of an allowed origin read the answer, errors included. No credentials mode, since there are no cookies. */
export function setCorsHeaders(response: ServerResponse, origin: string | undefined): void {
  response.appendHeader('vary', 'Origin');
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
}

/** What pages may send. */
export interface Preflight {
  /** Header of this server's user tokens, in lower case. */
  readonly tokenHeader: string | undefined;
  /** Methods of the address, besides OPTIONS. */
  readonly methods: readonly string[];
}

/** The headers of the answer to OPTIONS. Before authentication, since browsers send no credentials on a preflight. */
export function setPreflightHeaders(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string | undefined,
  { tokenHeader, methods }: Preflight,
): void {
  if (origin !== undefined) {
    const requested = request.headers['access-control-request-headers'];
    response.setHeader('access-control-allow-methods', methods.join(', '));
    const allowed = new Set<string>([...ALLOWED_HEADERS, ...(tokenHeader === undefined ? [] : [tokenHeader])]);
    response.setHeader('access-control-allow-headers', [...allowed, ...askedFor(requested)].join(', '));
    response.setHeader('access-control-max-age', MAX_AGE_SECONDS);
    response.appendHeader('vary', 'Access-Control-Request-Headers');
  }
  response.setHeader('allow', [...methods, 'OPTIONS'].join(', '));
}

function askedFor(requested: string | undefined): readonly string[] {
  const names = (requested ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => ASKED_FOR.test(name)).slice(0, MAX_ASKED_FOR);
}
