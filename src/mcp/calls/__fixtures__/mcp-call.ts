import { randomUUID } from 'node:crypto';
import type { McpCallRow } from '../mcp-call.store.js';

/** A call of a tool that went well. */
export const MCP_CALL: McpCallRow = {
  id: randomUUID(),
  organisationId: randomUUID(),
  workspaceId: randomUUID(),
  serverId: randomUUID(),
  serverSlug: 'server',
  callerType: 'api_key',
  callerId: 'key',
  userId: 'alice',
  httpMethod: 'POST',
  rpcMethod: 'tools/call',
  tool: 'search',
  status: 200,
  errorCode: null,
  outcome: 'ok',
  rpcErrorCode: null,
  firstByteMs: 1,
  totalMs: 2,
  bytesIn: '3',
  bytesOut: '9007199254740993',
  traceId: 'trace',
  createdAt: new Date('2026-11-24T10:00:00.001Z'),
};
