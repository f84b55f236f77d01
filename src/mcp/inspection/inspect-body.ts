import { isUtf8 } from 'node:buffer';
import { excessOf, MAX_JSON_CONTAINERS } from '../../common/json/scan.js';
import { hasLongNumbers, parseLongNumbers } from '../../common/json/numbers.js';
import { McpError, RPC_CODES } from '../mcp-error.js';
import { findAmbiguousKey } from './ambiguous-keys.js';
import { readRpcMessage, type RpcMessage } from './rpc-message.js';

/** As many as the official SDK takes. */
const MAX_BATCH = 100;

export interface InspectedBody {
  readonly isBatch: boolean;
  /** At least one. */
  readonly messages: readonly RpcMessage[];
  /** The messages with exact ids. Set when an id is a number that JavaScript rounds. */
  readonly exactMessages?: () => readonly RpcMessage[];
}

/** The messages with the ids for a refusal: the client expects the number that it sent, not the nearest one of JavaScript. */
export function answerableMessages({ messages, exactMessages }: InspectedBody): readonly RpcMessage[] {
  return exactMessages?.() ?? messages;
}

/**
 * Parses the body of a POST, strictly. Refuses what the server might parse differently, because the inspected bytes are the bytes
 * that are sent.
 * @throws McpError `validation_failed`
 */
export function inspectBody(body: Buffer): InspectedBody {
  const value = parse(body);
  const isBatch = Array.isArray(value);
  const items = itemsOf(value);
  if (items.length === 0 || items.length > MAX_BATCH) {
    throw invalid(`A batch must have 1 to ${MAX_BATCH} messages.`);
  }
  const messages = items.map(readRpcMessage);
  const key = findAmbiguousKey(body, isBatch);
  if (key !== undefined)
    throw invalid('A key comes twice, or differs from a key of the protocol only in its spelling.');
  const exactMessages = messages.some(({ id }) => hasLongNumbers(id)) ? () => withExactIds(messages, body) : undefined;
  return { isBatch, messages, exactMessages };
}

function withExactIds(messages: readonly RpcMessage[], body: Buffer): readonly RpcMessage[] {
  const items = itemsOf(parseLongNumbers(body));
  return messages.map((message, index) => ({ ...message, id: readRpcMessage(items[index]).id }));
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function parse(body: Buffer): unknown {
  if (excessOf(body, { depth: Infinity, containers: MAX_JSON_CONTAINERS }) !== undefined)
    throw invalid(`The body has more than ${MAX_JSON_CONTAINERS} lists and objects.`);
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8'));
  } catch {
    // Thrown below. The parser's own message would quote the body.
  }
  throw new McpError('validation_failed', { rpcCode: RPC_CODES.parseError, message: 'The body is not valid JSON.' });
}

function invalid(message: string): McpError {
  return new McpError('validation_failed', { rpcCode: RPC_CODES.invalidRequest, message });
}
