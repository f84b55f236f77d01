// An MCP server for benchmarks, as cheap as can be: JSON for every POST, a silent event stream for every GET.
import { createServer } from 'node:http';
import { announce } from './child.mjs';

const body = Buffer.from(
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(400) }] } }),
);
const HEAD = ['content-type', 'application/json', 'content-length', String(body.length)];

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.flushHeaders();
  }
  request.resume();
  request.on('end', () => response.writeHead(200, HEAD).end(body));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));
