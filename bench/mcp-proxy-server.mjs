// The MCP proxy of the built gateway on a bare server: the edge, the builder of headers with an identity, but no
// router, guards or store.  node bench/mcp-proxy-server.mjs <url of the MCP server>
import { createServer } from 'node:http';
import { readBody } from '../dist/src/common/http/read-body.js';
import { checkEdge } from '../dist/src/mcp/edge/mcp-edge.js';
import { outboundHeaders } from '../dist/src/identity/headers/outbound-headers.js';
import { toRawHeaders } from '../dist/src/identity/headers/raw-headers.js';
import { publicHosts } from '../dist/src/mcp/edge/public-hosts.js';
import { McpProxy } from '../dist/src/mcp/proxy/mcp-proxy.js';
import { EgressPolicy } from '../dist/src/upstream/egress/egress-policy.js';
import { announce } from './child.mjs';

const target = {
  url: new URL(process.argv[2]),
  transport: 'streamable_http',
  timeouts: { firstByteMs: 120_000 },
};
const proxy = new McpProxy(new EgressPolicy(['127.0.0.1']), { streamsPerCaller: 100_000 });
const edge = { publicHosts: publicHosts([], 0), allowedOrigins: [] };
const BODY_LIMITS = { maxBytes: 4 * 1024 * 1024, totalMs: 30_000 };
const IDENTITY = { 'x-user-jwt': 'x'.repeat(700) };
const hooks = { wrapSessionId: (id) => id };

const server = createServer((request, response) => {
  const headers = toRawHeaders(request.rawHeaders);
  checkEdge({ request, headers }, response, edge);
  pass(request, response, headers).catch(() => response.destroy());
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  edge.publicHosts = publicHosts([], port);
  announce(port);
});

async function pass(request, response, client) {
  const body = request.method === 'POST' ? await readBody(request, BODY_LIMITS) : undefined;
  const built = outboundHeaders({
    client,
    sessionId: request.headers['mcp-session-id'],
    identityHeaderName: 'x-user-jwt',
    identityHeaders: IDENTITY,
  });
  const headers = [...built].flatMap(([name, value]) => (name === 'content-length' ? [] : [name, value]));
  await proxy.forward({ request, response, target, headers, callerKey: 'caller', body, hooks });
}
