import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { McpError, RPC_CODES } from '../mcp-error.js';
import { isStateless } from '../protocol-revision.js';
import type { InspectedBody } from './inspect-body.js';
import { type RpcMessage, SUBJECT_KEYS } from './rpc-message.js';

/** The encoding of values that a header cannot hold. */
const ENCODED_VALUE = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/i;

/**
 * Checks that `Mcp-Method` and `Mcp-Name` match the body: a server, or a load balancer in front of it, may read only the headers.
 * The server itself refuses missing headers. Older revisions do not have these headers.
 * @throws McpError `validation_failed` with JSON-RPC code -32020
 */
export function checkMcpHeaders(headers: IncomingHttpHeaders, { isBatch, messages }: InspectedBody): void {
  const revision = headers['mcp-protocol-version'];
  if (typeof revision !== 'string' || !isStateless(revision)) return;
  const [message] = messages;
  if (isBatch || differs(headers['mcp-method'], message?.method) || isOfAnother(headers['mcp-name'], message)) {
    throw new McpError('validation_failed', {
      rpcCode: RPC_CODES.headerMismatch,
      message: 'The headers Mcp-Method and Mcp-Name must match the body.',
    });
  }
}

/** For other methods, only the server knows the subject. */
function isOfAnother(header: string | readonly string[] | undefined, message: RpcMessage | undefined): boolean {
  return SUBJECT_KEYS.has(message?.method ?? '') && differs(header, message?.subject);
}

function differs(header: string | readonly string[] | undefined, value: string | undefined): boolean {
  return header !== undefined && (typeof header !== 'string' || decoded(header.trim()) !== value);
}

/** Undefined when the value cannot be decoded, so that it never matches. */
function decoded(header: string): string | undefined {
  const base64 = ENCODED_VALUE.exec(header)?.[1];
  if (base64 === undefined) return header;
  const bytes = Buffer.from(base64, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
