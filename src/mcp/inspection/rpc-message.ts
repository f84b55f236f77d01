import { isObject, stringOrUndefined, type JsonObject } from '../../common/json/read.js';
import type { TraceContext } from '../../telemetry/trace-headers.js';
import { McpError, RPC_CODES, type RpcId } from '../mcp-error.js';

export type RpcMessageKind = 'request' | 'notification' | 'response';

/** The parts of a message that the gateway needs. */
export interface RpcMessage {
  readonly kind: RpcMessageKind;
  /** Undefined for a response. */
  readonly method: string | undefined;
  /** Undefined for a notification, and for an error about a request whose id could not be read (MCP 2025-11-25). */
  readonly id: RpcId | undefined;
  /** The target of a request: the name of a tool or prompt, the URI of a resource. */
  readonly subject: string | undefined;
  /** `traceparent` and `tracestate` of `params._meta`; undefined without the first. */
  readonly trace: TraceContext | undefined;
}

/** The parameter with the subject, by method. */
export const SUBJECT_KEYS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
]);

/** Errors repeat it. */
const MAX_ID_CHARACTERS = 1_024;

/** @throws McpError `validation_failed` for an invalid JSON-RPC message, and for a tool call without a tool */
export function readRpcMessage(value: unknown): RpcMessage {
  if (!isObject(value)) throw invalid('A JSON-RPC message must be an object.');
  const { method } = value;
  if (method === undefined) {
    if (!('result' in value) && !('error' in value)) throw invalid('A JSON-RPC message needs a method.', 'method');
    const id = 'error' in value && !('id' in value) ? undefined : idOf(value);
    return { kind: 'response', method: undefined, id, subject: undefined, trace: undefined };
  }
  if (typeof method !== 'string') throw invalid('The method must be a string.', 'method');
  const subject = subjectOf(method, value);
  const trace = traceOf(value);
  if (!('id' in value)) return { kind: 'notification', method, id: undefined, subject, trace };
  return { kind: 'request', method, id: idOf(value), subject, trace };
}

function idOf({ id }: JsonObject): RpcId {
  if ((typeof id === 'string' && id.length > MAX_ID_CHARACTERS) || id === Infinity || id === -Infinity) {
    throw invalid(`The id must have at most ${MAX_ID_CHARACTERS} characters.`, 'id');
  }
  if (typeof id === 'string' || typeof id === 'number' || id === null) return id;
  throw invalid('The id must be a string or a number.', 'id');
}

function subjectOf(method: string, { params }: JsonObject): string | undefined {
  const key = SUBJECT_KEYS.get(method);
  if (key === undefined) return undefined;
  const subject = isObject(params) ? stringOrUndefined(params[key]) : undefined;
  if (subject === undefined && method === 'tools/call') throw invalid('A tool call needs a name.', 'params.name');
  return subject;
}

function traceOf({ params }: JsonObject): TraceContext | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  if (!isObject(meta) || typeof meta['traceparent'] !== 'string') return undefined;
  const { traceparent, tracestate } = meta;
  return { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) };
}

function invalid(message: string, param?: string): McpError {
  return new McpError('validation_failed', { rpcCode: RPC_CODES.invalidRequest, message, param });
}
