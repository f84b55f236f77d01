import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../../src/common/json/read.js';
import { type Loopback, startHttp } from '../../src/upstream/__fixtures__/loopback.js';

const REVISION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const HEADER_MISMATCH = -32_020;
const METHOD_NOT_FOUND = -32_601;
const PAGE_SIZE = 2;

export interface ModernMcpServer extends Loopback {
  readonly endpoint: URL;
  /** JSON-RPC methods in the order of arrival, including `DELETE`. */
  readonly methods: string[];
  /** Sessions of the clients that began with a handshake. */
  readonly sessions: Set<string>;
}

export interface ModernMcpServerOptions {
  /** Also serves clients that begin with a handshake. */
  readonly both?: boolean;
  /** Answers come as event streams, with a notification before them. */
  readonly streams?: boolean;
  readonly tools?: readonly string[];
  /** The server sends its name where drafts of the revision had it. */
  readonly draft?: boolean;
}

/**
 * A server of MCP 2026-07-28, after its pages on versioning, Streamable HTTP and discovery: no handshake, no session,
 * POST only, and it refuses a request whose headers contradict its body.
 */
export async function startModernMcpServer(options: ModernMcpServerOptions = {}): Promise<ModernMcpServer> {
  const methods: string[] = [];
  const sessions = new Set<string>();
  const server = await startHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'DELETE' && options.both) {
        methods.push('DELETE');
        sessions.delete(String(request.headers['mcp-session-id']));
        return void response.writeHead(200).end();
      }
      if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
      const message: unknown = JSON.parse(Buffer.concat(chunks).toString());
      if (!isObject(message)) return void response.writeHead(400).end();
      methods.push(String(message['method']));
      if (options.both && message['method'] === 'initialize') return initialize(response, message, sessions);
      answer(request, response, message, options);
    });
  });
  return { ...server, endpoint: server.url('/mcp'), methods, sessions };
}

function initialize(response: ServerResponse, { id }: JsonObject, sessions: Set<string>): void {
  const session = randomUUID();
  sessions.add(session);
  response.setHeader('mcp-session-id', session);
  const serverInfo = { name: 'dual', version: '2.0.0' };
  reply(response, { id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { id, method, params }: JsonObject,
  options: ModernMcpServerOptions,
): void {
  const problem = mismatch(request, method, params);
  if (problem !== undefined) return reply(response, { id, error: { code: HEADER_MISMATCH, message: problem } }, 400);
  const result = resultOf(method, params, options);
  if (result === undefined) {
    return reply(response, { id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } }, 404);
  }
  if (!options.streams) return reply(response, { id, result });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  const notification = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'soon' } };
  response.write(`: hello\n\ndata: ${JSON.stringify(notification)}\n\n`);
  // The stream stays open: clients must wait only for the response.
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
}

/** The header that contradicts the body, if any. */
function mismatch({ headers }: IncomingMessage, method: unknown, params: unknown): string | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  if (!isObject(meta) || !isObject(meta[`${META}clientCapabilities`])) return '_meta is missing';
  if (meta[`${META}protocolVersion`] !== REVISION) return 'the revision is not served';
  if (headers['mcp-protocol-version'] !== REVISION) return 'MCP-Protocol-Version does not match';
  if (headers['mcp-method'] !== method) return 'Mcp-Method does not match';
  if (method === 'tools/call' && decoded(headers['mcp-name']) !== Object(params).name) return 'Mcp-Name does not match';
  const accept = headers.accept ?? '';
  return accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : 'Accept is too narrow';
}

/** As a header writes what it cannot hold. */
function decoded(header: string | readonly string[] | undefined): string {
  const text = [header ?? ''].flat().join();
  const base64 = /^=\?base64\?(.*)\?=$/.exec(text)?.[1];
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString();
}

function resultOf(method: unknown, params: unknown, options: ModernMcpServerOptions): JsonObject | undefined {
  const { tools = ['search', 'create', 'delete'], both = false, draft = false } = options;
  const serverInfo = { name: both ? 'dual' : 'modern', version: '2.0.0' };
  const meta = { [`${META}serverInfo`]: serverInfo };
  if (method === 'server/discover') {
    const supportedVersions = both ? [REVISION, '2025-11-25', '2025-06-18'] : [REVISION];
    const common = { resultType: 'complete', supportedVersions, capabilities: { tools: {} }, ttlMs: 0 };
    return draft ? { ...common, serverInfo } : { ...common, _meta: meta };
  }
  if (method === 'tools/call') {
    const { name, arguments: given } = Object(params);
    if (!tools.includes(name)) return undefined;
    return { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(given) }], _meta: meta };
  }
  if (method !== 'tools/list') return undefined;
  const from = Number(isObject(params) ? (params['cursor'] ?? 0) : 0);
  const next = from + PAGE_SIZE;
  return {
    resultType: 'complete',
    tools: tools.slice(from, next).map((name) => ({ name, description: `Tool ${name}`, inputSchema: {} })),
    ...(next < tools.length ? { nextCursor: String(next) } : {}),
    _meta: meta,
  };
}

function reply(response: ServerResponse, message: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}
