// A small MCP server that returns who its user is. It has no users of its own: the gateway sends the user in X-User-JWT, and
// the server verifies that with the gateway's published keys. Copy it, and replace `whoami` by your tools.
//
//   npm install @modelcontextprotocol/sdk jose
//   GATEWAY_URL=http://localhost:8787 API_KEY=choose-one node server.mjs
import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const {
  GATEWAY_URL = 'http://localhost:8787',
  API_KEY,
  ORGANISATION_ID,
  PORT = '3001',
  HOST = '127.0.0.1',
} = process.env;
if (!API_KEY) throw new Error('set API_KEY: only callers that know it may call this server');

const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', GATEWAY_URL));

/** The tools of this server. Each request gets a protocol object of its own with all of them. */
const TOOLS = [
  {
    name: 'whoami',
    config: { description: 'Returns the user of this request.' },
    run: (user) => (user ? JSON.stringify(user) : 'no verified user'),
  },
];

createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
}).listen(Number(PORT), HOST, function () {
  process.stdout.write(`whoami listens on http://${HOST}:${this.address().port}/mcp\n`);
});

async function answer(request, response) {
  if (new URL(request.url, 'http://localhost').pathname !== '/mcp') return response.writeHead(404).end();
  if (!isFromGateway(request)) {
    return response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'application/json' }).end(
      JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: 'The API key is missing or wrong.' },
      }),
    );
  }
  // Without sessions every request stands alone, so that any number of copies of this server can run.
  if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end();
  const server = serverFor(await userOf(request));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

function serverFor(user) {
  const server = new McpServer({ name: 'whoami', version: '1.0.0' });
  for (const { name, config, run } of TOOLS) {
    server.registerTool(name, config, () => ({ content: [{ type: 'text', text: run(user) }] }));
  }
  return server;
}

/** The gateway sends this server's own key. A caller that bypasses the gateway does not have it. */
function isFromGateway({ headers }) {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${API_KEY}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The verified claims of the user. Undefined without a token, and with a token that cannot be verified. */
async function userOf({ headers }) {
  try {
    const { payload } = await jwtVerify(headers['x-user-jwt'] ?? '', keys, {
      issuer: 'service-mcp-gateway',
      algorithms: ['RS256'],
    });
    // The tokens of all organisations of a gateway are signed with the same keys, and each has its own users.
    if (ORGANISATION_ID && payload.organisation_id !== ORGANISATION_ID)
      throw new Error('a token of another organisation');
    return payload;
  } catch (error) {
    console.warn(`no identity: ${error.code ?? error.message}`);
    return undefined;
  }
}
