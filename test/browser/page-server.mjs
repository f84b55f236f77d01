// Serves a page of another origin than the gateway's: it has the SDKs of other people, bundled as their users would.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const MCP_CLIENT = '@modelcontextprotocol/sdk/client';
const ENTRY = 'virtual:clients';
const SOURCE = `
export { default as OpenAI } from 'openai';
export { default as Anthropic } from '@anthropic-ai/sdk';
export { Client } from '${MCP_CLIENT}/index.js';
export { StreamableHTTPClientTransport } from '${MCP_CLIENT}/streamableHttp.js';
`;
const PAGE = `<!doctype html><title>A page</title>
<script type="module">import * as clients from '/assets/clients.js'; window.clients = clients;</script>`;

/**
 * @param root of the repository: its packages have Vite and the MCP client
 * @returns one page at two origins. Only the first is for CORS_ORIGINS.
 */
export async function startPageServer(root) {
  const scripts = await bundle(root);
  const server = createServer((request, response) => {
    const script = scripts.get(request.url);
    const type = script === undefined ? 'text/html' : 'text/javascript';
    response.writeHead(200, { 'content-type': type }).end(script ?? PAGE);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { friend: `http://127.0.0.1:${port}`, stranger: `http://localhost:${port}`, close };
}

/** The scripts by their addresses: an SDK loads parts of itself when they are needed. */
async function bundle(root) {
  const ofRoot = createRequire(path.join(root, 'package.json'));
  const { build } = await import(pathToFileURL(ofRoot.resolve('vite')));
  const clients = {
    name: 'clients',
    resolveId(id) {
      if (id === ENTRY) return id;
      return id.startsWith(MCP_CLIENT) ? { id: ofRoot.resolve(id).replace('/cjs/', '/esm/') } : null;
    },
    load: (id) => (id === ENTRY ? SOURCE : null),
  };
  const options = { write: false, minify: false, rollupOptions: { input: ENTRY, preserveEntrySignatures: 'strict' } };
  const result = await build({ root: HERE, configFile: false, logLevel: 'error', plugins: [clients], build: options });
  const chunks = result.output.filter(({ type }) => type === 'chunk');
  return new Map(chunks.map(({ isEntry, fileName, code }) => [isEntry ? '/assets/clients.js' : `/${fileName}`, code]));
}
