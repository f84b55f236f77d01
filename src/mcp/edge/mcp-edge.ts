import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { headerValues, type RawHeader } from '../../identity/headers/raw-headers.js';
import { type Preflight, setCorsHeaders, setPreflightHeaders } from './cors.js';
import { checkHost, type PublicHosts } from './public-hosts.js';

interface EdgeRequest {
  readonly request: IncomingMessage;
  /** As the client sent them. */
  readonly headers: readonly RawHeader[];
}

export interface McpEdge extends Preflight {
  readonly publicHosts: PublicHosts;
  /** Origins of pages that may use this server, besides the gateway's own: `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

/**
 * First step of an MCP request, before authentication: Host, Origin and CORS headers. Preflights get their headers here too.
 * @throws GatewayError `permission_denied`
 */
export function checkEdge({ request, headers }: EdgeRequest, response: ServerResponse, edge: McpEdge): void {
  checkHost(headers, edge.publicHosts);
  const origin = checkOrigin(headers, edge);
  setCorsHeaders(response, origin);
  if (request.method === 'OPTIONS') setPreflightHeaders(request, response, origin, edge);
}

/**
 * The request's origin; undefined for clients that are not browsers.
 * @throws GatewayError `permission_denied`; also for `null`, which any sandboxed page has, and for two origins
 */
function checkOrigin(headers: readonly RawHeader[], { publicHosts, allowedOrigins }: McpEdge): string | undefined {
  const [sent, ...others] = headerValues(headers, 'origin');
  if (sent === undefined) return undefined;
  const origin = sent.toLowerCase();
  const isAllowed = origin !== 'null' && (publicHosts.origins.has(origin) || allowedOrigins.includes(origin));
  if (others.length === 0 && isAllowed) return sent;
  throw new GatewayError('permission_denied', {
    message: 'This origin may not use the MCP server.',
    reason: 'origin',
  });
}
