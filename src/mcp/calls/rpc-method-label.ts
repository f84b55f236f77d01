import { type McpMessage, rpcMethodOf } from '../endpoints/mcp-message.js';

/** Methods of all revisions of MCP. A label must not be what a client makes up. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'tools/call',
  'tools/list',
]);

/** @param message undefined for what is none */
export function methodLabel(httpMethod: string, message: McpMessage | undefined): string {
  if (httpMethod !== 'POST') return httpMethod;
  if (message === undefined) return 'invalid';
  const rpcMethod = rpcMethodOf(message);
  if (rpcMethod === undefined) return 'response';
  return KNOWN_METHODS.has(rpcMethod) ? rpcMethod : 'other';
}
