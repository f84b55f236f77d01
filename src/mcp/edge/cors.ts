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
 * Families of headers of which those are allowed that are asked for: what tools name (`Mcp-Param-*`, revision 2026-07-28), and
 * the gateway's own under both prefixes. RFC 9110 token, so that nothing of a client's header gets into ours but names.
 */
const ASKED_FOR = /^(?:mcp-param|x-gateway|x-portkey)-[!#$%&'*+.^_`|~0-9a-z-]+$/;
const MAX_ASKED_FOR = 32;

/** Lets a page of an allowed origin read the answer, errors included. Without credentials mode: there are no cookies. */
export function setCorsHeaders(response: ServerResponse, origin: string | undefined): void {
  response.appendHeader('vary', 'Origin');
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
}

/** What pages may send. */
export interface Preflight {
  /** In which this server takes the tokens of users, in lower case. */
  readonly tokenHeader: string | undefined;
  /** What the address takes, besides OPTIONS. */
  readonly methods: readonly string[];
}

/** The answer to OPTIONS, which comes before authentication: browsers send no credentials on a preflight. */
export function answerOptions(
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
  response.statusCode = 204;
  response.end();
}

function askedFor(requested: string | undefined): readonly string[] {
  const names = (requested ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => ASKED_FOR.test(name)).slice(0, MAX_ASKED_FOR);
}
