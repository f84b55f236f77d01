import type { JsonObject } from '../../common/json/read.js';
import { stringifyLongNumbers } from '../../common/json/numbers.js';
import { RPC_CODES, type RpcErrorBody, type RpcId } from '../mcp-error.js';
import { answerableMessages, type InspectedBody } from './inspect-body.js';
import type { RpcMessage } from './rpc-message.js';

/** Of a tool, in an error: names have at most as many (MCP 2025-11-25). */
const MAX_NAME_CHARACTERS = 128;

/** Whether the caller may use a tool of the server; in a list, with its definition. */
export type ToolAccess = (name: string, definition?: JsonObject) => boolean;

export interface ToolDenial {
  /** The first denied tool, for the row of the call. */
  readonly tool: string;
  /**
   * 200 with a JSON-RPC error: to the model, a disabled tool does not exist, with the message of the official SDK. 202 without a
   * body when no message asks for an answer.
   */
  readonly status: 200 | 202;
  readonly text: string;
}

/**
 * The answer to a body that calls a tool which the caller may not use; undefined when it calls none. One denied call refuses the
 * whole batch.
 */
export function denyToolCalls(body: InspectedBody, mayUse: ToolAccess): ToolDenial | undefined {
  const denied = body.messages.find((message) => isDenied(message, mayUse));
  if (denied === undefined) return undefined;
  const { subject: tool = '' } = denied;
  const errors: RpcErrorBody[] = [];
  for (const message of answerableMessages(body)) {
    if (message.kind !== 'request') continue;
    errors.push(isDenied(message, mayUse) ? unknownTool(message) : notRun(message.id));
  }
  if (errors.length === 0) return { tool, status: 202, text: '' };
  return { tool, status: 200, text: stringifyLongNumbers(body.isBatch ? errors : errors[0]) };
}

function isDenied({ method, subject }: RpcMessage, mayUse: ToolAccess): boolean {
  return method === 'tools/call' && (subject === undefined || !mayUse(subject));
}

function unknownTool({ id, subject = '' }: RpcMessage): RpcErrorBody {
  const name = subject.length > MAX_NAME_CHARACTERS ? `${subject.slice(0, MAX_NAME_CHARACTERS)}…` : subject;
  return rpcError(id, RPC_CODES.invalidParams, `Unknown tool: ${name}`);
}

function notRun(id: RpcId | undefined): RpcErrorBody {
  return rpcError(id, RPC_CODES.invalidRequest, 'Not run: another message of the batch was refused.');
}

function rpcError(id: RpcId = null, code: number, message: string): RpcErrorBody {
  return { jsonrpc: '2.0', id, error: { code, message, data: { code: 'permission_denied', source: 'gateway' } } };
}
