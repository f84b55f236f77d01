import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { McpError, RPC_CODES } from '../mcp-error.js';
import { findAmbiguousKey } from './ambiguous-keys.js';
import { readRpcMessage, type RpcMessage } from './rpc-message.js';

/** As many as the official SDK takes. */
const MAX_BATCH = 100;

export interface InspectedBody {
  readonly isBatch: boolean;
  /** At least one. */
  readonly messages: readonly RpcMessage[];
}

/**
 * Reads the body of a POST for a decision about it. Refuses whatever the server behind might read differently: the bytes
 * that are judged here are the bytes that are sent.
 * @throws GatewayError `unsupported_media_type`, McpError `validation_failed`
 */
export function inspectBody(body: Buffer, headers: IncomingHttpHeaders): InspectedBody {
  if (!isPlainJson(headers)) throw new GatewayError('unsupported_media_type');
  const value = parse(body);
  const isBatch = Array.isArray(value);
  const items: readonly unknown[] = isBatch ? value : [value];
  if (items.length === 0 || items.length > MAX_BATCH) {
    throw invalid(`A batch must have 1 to ${MAX_BATCH} messages.`);
  }
  const messages = items.map(readRpcMessage);
  const key = findAmbiguousKey(body, isBatch);
  if (key !== undefined)
    throw invalid('A key comes twice, or differs from a key of the protocol only in its spelling.');
  return { isBatch, messages };
}

/** Decided the way a lenient server would: `Application/JSON; charset=UTF-8` is JSON as well. */
function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charsets = parameters.map((text) => text.trim()).filter((text) => text.startsWith('charset'));
  const isUtf8Only = charsets.every((text) => /^charset\s*=\s*"?utf-?8"?$/.test(text));
  return encoding.toLowerCase() === 'identity' && type.trim() === 'application/json' && isUtf8Only;
}

function parse(body: Buffer): unknown {
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8'));
  } catch {
    // Said below. The parser's own message would quote the body.
  }
  throw new McpError('validation_failed', { rpcCode: RPC_CODES.parseError, message: 'The body is not valid JSON.' });
}

function invalid(message: string): McpError {
  return new McpError('validation_failed', { rpcCode: RPC_CODES.invalidRequest, message });
}
