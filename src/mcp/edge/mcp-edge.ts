import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterBody } from '../../common/http/after-body.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { headerValues, type RawHeader } from '../../identity/headers/raw-headers.js';
import { sendRpcError } from '../mcp-error.js';
import { answerOptions, type Preflight, setCorsHeaders } from './cors.js';
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
 * First step of an MCP request, before authentication. Whether it may go on: else it has been answered, an OPTIONS or a
 * refusal.
 */
export function passEdge({ request, headers }: EdgeRequest, response: ServerResponse, edge: McpEdge): boolean {
  try {
    checkHost(headers, edge.publicHosts);
    const origin = checkOrigin(headers, edge);
    setCorsHeaders(response, origin);
    if (request.method !== 'OPTIONS') return true;
    answerOptions(request, response, origin, edge);
    return false;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    afterBody(request, response, () => sendRpcError(response, error));
    return false;
  }
}

/**
 * The request's origin, undefined when it has none, as every client that is no browser.
 * @throws GatewayError `permission_denied`: also for `null`, which any sandboxed page has, and for two of them
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
