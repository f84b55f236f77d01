import type { Request } from 'express';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isReservedSegment } from '../../common/slug.js';
import type { ServerAddress } from '../servers/mcp-server.directory.js';

/** `mcp`: Streamable HTTP. `sse` and `messages`: the two addresses of the older transport (HTTP+SSE). */
export type McpEndpoint = 'mcp' | 'sse' | 'messages';

/** The methods of each endpoint, besides OPTIONS. */
export const METHODS_OF: Readonly<Record<McpEndpoint, readonly string[]>> = {
  mcp: ['GET', 'POST', 'DELETE'],
  sse: ['GET'],
  messages: ['POST'],
};

/** @throws GatewayError `method_not_allowed` */
export function assertMethod(method: string, endpoint: McpEndpoint): void {
  const methods = METHODS_OF[endpoint];
  if (method === 'OPTIONS' || methods.includes(method)) return;
  throw new GatewayError('method_not_allowed', { headers: { allow: [...methods, 'OPTIONS'].join(', ') } });
}

/**
 * The server in the path of a request.
 * @throws GatewayError `not_found` for paths of the gateway itself that have no route
 */
export function addressOf({ params }: Pick<Request, 'params'>): ServerAddress {
  const { workspace, server } = params;
  if (typeof server !== 'string' || Array.isArray(workspace) || isReservedSegment(workspace ?? server)) {
    throw new GatewayError('not_found', { message: 'There is nothing at this address.' });
  }
  return { workspace, server };
}

/** Path of a server as its clients type it. On the older transport, that is the address of the stream. */
export function resourcePath({ workspace, server }: ServerAddress, endpoint: McpEndpoint): string {
  const segments = [...(workspace === undefined ? [] : [workspace]), server, endpoint === 'mcp' ? 'mcp' : 'sse'];
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** The port that the gateway listens on. With `PORT=0`, only the connection knows it. */
export function portOf(request: Pick<Request, 'socket'>): number {
  return request.socket.localPort ?? 0;
}
