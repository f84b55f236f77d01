// An MCP server for benchmarks, as cheap as can be: JSON for every POST, a session for a client without one, a silent event
// stream for every GET. GET /received returns the body of the last POST.
import { createServer } from 'node:http';
import { announce } from './child.mjs';

const body = Buffer.from(
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(400) }] } }),
);
const HEAD = ['content-type', 'application/json', 'content-length', String(body.length)];
const SESSION = ['mcp-session-id', '7f3d0c1e-6f0e-4d9c-9d8e-0d7d3f6c1a2b'];
let received = [];

const server = createServer((request, response) => {
  if (request.url === '/received') return response.end(Buffer.concat(received));
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.flushHeaders();
  }
  received = [];
  request.on('data', (chunk) => received.push(chunk));
  const isNew = request.headers['mcp-session-id'] === undefined;
  request.on('end', () => response.writeHead(200, isNew ? [...HEAD, ...SESSION] : HEAD).end(body));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));
