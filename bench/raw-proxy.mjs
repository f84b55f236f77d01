// The floor: what a proxy costs on this Node when it does nothing but pass bytes on. Bare node:http in front,
// undici.request behind, no routing, no checks, no parsing.  node bench/raw-proxy.mjs <url of the provider>
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { announce } from './child.mjs';

const target = new URL(process.argv[2]);
const pool = new Pool(target.origin, { connections: 128, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => void pass(chunks, response));
});

server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));

async function pass(chunks, response) {
  const answer = await pool.request({
    path: target.pathname,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks),
  });
  const { 'content-type': type, 'content-length': length } = answer.headers;
  const head = ['content-type', type];
  if (length !== undefined) head.push('content-length', length);
  response.writeHead(answer.statusCode, head);
  answer.body.on('data', (chunk) => response.write(chunk));
  answer.body.on('end', () => response.end());
}
