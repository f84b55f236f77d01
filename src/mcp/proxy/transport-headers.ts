import { McpError, RPC_CODES } from '../mcp-error.js';

/**
 * The headers with which a client speaks MCP: forwarded whatever `forward_headers` says. Revision 2026-07-28 also has
 * `Mcp-Param-*`, which those in between must pass on without knowing them.
 */
const TRANSPORT_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'content-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
]);
const PARAM_PREFIX = 'mcp-param-';

/**
 * Name, value, name, value … of a request's MCP headers, in lower case. `sessionId` stands in for the client's; without
 * one there is none.
 * @throws McpError `validation_failed` (400) for a header that comes twice: which one counts would be the server's guess
 */
export function transportHeaders(rawHeaders: readonly string[], sessionId: string | undefined): string[] {
  // Answers are passed on as they come, so that compression would only have to be undone where one is read.
  const headers = ['accept-encoding', 'identity'];
  const seen = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!TRANSPORT_HEADERS.has(name) && !name.startsWith(PARAM_PREFIX)) continue;
    if (seen.has(name) && name !== 'accept') throw repeated(name);
    seen.add(name);
    if (name !== 'mcp-session-id') headers.push(name, rawHeaders[at + 1] ?? '');
  }
  if (sessionId !== undefined) headers.push('mcp-session-id', sessionId);
  return headers;
}

function repeated(name: string): McpError {
  return new McpError('validation_failed', {
    rpcCode: RPC_CODES.invalidRequest,
    message: `The header ${name} must come only once.`,
    param: name,
  });
}
