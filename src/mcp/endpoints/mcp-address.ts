import type { Request } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isReservedSegment } from '../../common/http/reserved-segments.js';
import type { ServerAddress } from '../servers/mcp-server.directory.js';

/** `mcp`: the transport of today. `sse` and `messages`: the two addresses of the older one. */
export type McpEndpoint = 'mcp' | 'sse' | 'messages';

/** What each takes, besides OPTIONS. */
export const METHODS_OF: Readonly<Record<McpEndpoint, readonly string[]>> = {
  mcp: ['GET', 'POST', 'DELETE'],
  sse: ['GET'],
  messages: ['POST'],
};

/** @throws GatewayError `method_not_allowed` */
export function assertMethod(method: string, endpoint: McpEndpoint): void {
  const methods = METHODS_OF[endpoint];
  if (methods.includes(method)) return;
  throw new GatewayError('method_not_allowed', { headers: { allow: [...methods, 'OPTIONS'].join(', ') } });
}

/**
 * The server that the path of a request names.
 * @throws GatewayError `not_found` for paths of the gateway itself that nothing else answers
 */
export function addressOf({ params }: Pick<Request, 'params'>): ServerAddress {
  const { workspace, server } = params;
  if (typeof server !== 'string' || Array.isArray(workspace) || isReservedSegment(workspace ?? server)) {
    throw new GatewayError('not_found', { message: 'There is nothing at this address.' });
  }
  return { workspace, server };
}

/** Path of a server as its clients type it. Messages of the older transport belong to the stream that a client has typed. */
export function resourcePath({ workspace, server }: ServerAddress, endpoint: McpEndpoint): string {
  const segments = [...(workspace === undefined ? [] : [workspace]), server, endpoint === 'mcp' ? 'mcp' : 'sse'];
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
