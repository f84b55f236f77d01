import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../common/errors/error-codes.js';
import { GatewayError, type GatewayErrorOptions } from '../common/errors/gateway.error.js';
import { stringifyLongNumbers } from '../common/json/numbers.js';

/** Error codes of JSON-RPC 2.0 and MCP that the gateway uses. It invents none between -32000 and -32099. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internalError: -32_603,
  /** Revision 2026-07-28: `Mcp-Method` or `Mcp-Name` differs from the body. */
  headerMismatch: -32_020,
} as const;

export type RpcCode = (typeof RPC_CODES)[keyof typeof RPC_CODES];
/** A whole number beyond 2^53 is a string of `parseLongNumbers`. */
export type RpcId = string | number | null;

export interface RpcErrorBody {
  readonly jsonrpc: '2.0';
  readonly id: RpcId;
  readonly error: { readonly code: number; readonly message: string; readonly data: object };
}

/** A refusal with a code of JSON-RPC or MCP. */
export class McpError extends GatewayError {
  readonly rpcCode: RpcCode;

  constructor(code: ErrorCode, { rpcCode, ...options }: GatewayErrorOptions & { readonly rpcCode: RpcCode }) {
    super(code, options);
    this.rpcCode = rpcCode;
  }
}

/** The body of every error on an MCP route, as JSON: the code of the error table is in `data.code`. */
export function rpcErrorText(error: GatewayError, id: RpcId = null): string {
  const { code, source, param, details } = error;
  const data = { code, source, ...(param === null ? {} : { param }), ...(details ? { details } : {}) };
  const body: RpcErrorBody = { jsonrpc: '2.0', id, error: { code: rpcCodeOf(error), message: error.message, data } };
  return stringifyLongNumbers(body);
}

/**
 * Answers an MCP request with an error. Policies must not refuse with 400, 404 or 405: clients take these for a server of an
 * older revision and start again with the older protocol.
 */
export function sendRpcError(response: ServerResponse, error: GatewayError, id: RpcId = null): void {
  // An answer that has begun cannot become an error. The closed connection shows the client that it is incomplete.
  if (response.headersSent) return void response.destroy();
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  sendJson(response, error.status, rpcErrorText(error, id));
}

export function sendJson(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

function rpcCodeOf(error: GatewayError): number {
  if (error instanceof McpError) return error.rpcCode;
  return error.status >= 500 ? RPC_CODES.internalError : RPC_CODES.invalidRequest;
}
