import type { IncomingMessage } from 'node:http';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { assertJsonBody } from '../../common/http/parse-json-body.js';
import { type BodyLimits, readBody } from '../../common/http/read-body.js';
import { withoutByteOrderMark } from '../../common/json/read.js';
import { checkMcpHeaders } from '../inspection/header-match.js';
import { answerableMessages, inspectBody, type InspectedBody } from '../inspection/inspect-body.js';
import type { RpcId } from '../mcp-error.js';

const TOOL_CALL = 'tools/call';

/** Methods of all revisions of MCP. A metric label must not be a text that a client makes up. */
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
  TOOL_CALL,
  'tools/list',
]);

/** The understood body of a POST. */
export interface McpMessage {
  readonly inspected: InspectedBody;
  /** The called tools, one entry per call. */
  readonly tools: readonly string[];
}

/** Filled step by step, so that a refusal can be reported with what was known by then. */
interface Reading {
  body: Buffer | undefined;
  message: McpMessage | undefined;
}

/**
 * Reads the body of a POST. Refuses what the server might understand differently: it could run a tool that the gateway does
 * not see, disabled or not counted.
 * @throws GatewayError `payload_too_large`, `request_timeout`, `validation_failed`, `unsupported_media_type`
 * @throws RequestAbortedError when the client disconnects first
 */
export function readMessage(request: IncomingMessage, limits: BodyLimits, reading: Reading): MaybePromise<void> {
  const { headers } = request;
  // The server would not learn of an encoding: it describes the message on its way to the gateway.
  assertJsonBody(headers, 'plain');
  return chain(readBody(request, limits), (received) => {
    const body = withoutByteOrderMark(received);
    reading.body = body;
    const inspected = inspectBody(body);
    reading.message = { inspected, tools: toolsIn(inspected) };
    checkMcpHeaders(headers, inspected);
  });
}

/** Method of the first message; `tools/call` for a batch that calls tools. */
export function rpcMethodOf(message: McpMessage | undefined): string | undefined {
  return toolOf(message) === undefined ? message?.inspected.messages[0]?.method : TOOL_CALL;
}

/** The called tool; the first one of a batch. */
export function toolOf(message: McpMessage | undefined): string | undefined {
  return message?.tools[0];
}

/**
 * The method of a call, for metrics and logs.
 * @param message undefined when the body could not be understood
 */
export function methodLabel(httpMethod: string, message: McpMessage | undefined): string {
  if (httpMethod !== 'POST') return httpMethod;
  if (message === undefined) return 'invalid';
  const rpcMethod = rpcMethodOf(message);
  if (rpcMethod === undefined) return 'response';
  return KNOWN_METHODS.has(rpcMethod) ? rpcMethod : 'other';
}

/** The id for a refusal; null unless the body is a single request. */
export function rpcIdOf(message: McpMessage | undefined): RpcId {
  if (message === undefined || message.inspected.isBatch) return null;
  const [only] = answerableMessages(message.inspected);
  return only?.kind === 'request' ? (only.id ?? null) : null;
}

function toolsIn({ messages }: InspectedBody): readonly string[] {
  const tools: string[] = [];
  for (const { method, subject } of messages) if (method === TOOL_CALL && subject !== undefined) tools.push(subject);
  return tools;
}
