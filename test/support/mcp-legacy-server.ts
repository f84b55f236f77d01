import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { z } from 'zod';
import { startHttp, type Loopback } from '../../src/upstream/__fixtures__/loopback.js';

const BASE = 'http://localhost';

export interface LegacyMcpServer extends Loopback {
  /** The address of its stream. */
  readonly endpoint: URL;
}

/**
 * A server of the official SDK that speaks the HTTP+SSE transport of 2024-11-05, with the tool `echo`.
 * @param query of its message addresses, besides the session
 */
export async function startLegacyMcpServer(query = ''): Promise<LegacyMcpServer> {
  const transports = new Map<string, SSEServerTransport>();
  const server = await startHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', BASE);
    if (request.method === 'GET' && pathname === '/legacy/sse') {
      const transport = new SSEServerTransport(`/legacy/message?${query}`, response);
      transports.set(transport.sessionId, transport);
      response.on('close', () => transports.delete(transport.sessionId));
      createServer()
        .connect(transport)
        .catch(() => response.destroy());
      return;
    }
    const transport = transports.get(searchParams.get('sessionId') ?? '');
    if (request.method !== 'POST' || pathname !== '/legacy/message' || !transport) {
      return void response.writeHead(404).end();
    }
    transport.handlePostMessage(request, response).catch(() => response.destroy());
  });
  return { ...server, endpoint: server.url('/legacy/sse') };
}

function createServer(): McpServer {
  const server = new McpServer({ name: 'legacy', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}
