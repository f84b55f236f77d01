import type { IncomingMessage } from 'node:http';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { assertJsonBody } from '../../common/http/parse-json-body.js';
import { type BodyLimits, readBody } from '../../common/http/read-body.js';
import { checkMcpHeaders } from '../inspection/header-match.js';
import { answerableMessages, inspectBody, type InspectedBody } from '../inspection/inspect-body.js';
import type { RpcId } from '../mcp-error.js';

const TOOL_CALL = 'tools/call';

/** What was understood of the body of a POST. */
export interface McpMessage {
  readonly inspected: InspectedBody;
  /** The tools that are called, as often as they are. */
  readonly tools: readonly string[];
}

/** Where what is learned of a body is noted step by step, so that a refusal can be told with what was known by then. */
export interface Reading {
  /** Undefined until it is read, and of what has none. */
  body: Buffer | undefined;
  /** Undefined until it is understood. */
  message: McpMessage | undefined;
}

/**
 * Reads the body of a POST. What the server might understand differently is refused: it could call a tool that nobody sees,
 * be it disabled or just not counted.
 * @throws GatewayError `payload_too_large`, `request_timeout`, `validation_failed`, `unsupported_media_type`
 * @throws RequestAbortedError when the client leaves first
 */
export function readMessage(request: IncomingMessage, limits: BodyLimits, reading: Reading): MaybePromise<void> {
  const { headers } = request;
  // The server would not learn of an encoding: it describes the message on its way to the gateway.
  assertJsonBody(headers, 'plain');
  return chain(readBody(request, limits), (body) => {
    reading.body = body;
    const inspected = inspectBody(body);
    reading.message = { inspected, tools: toolsIn(inspected) };
    checkMcpHeaders(headers, inspected);
  });
}

/** Method of the first message; of a batch that calls tools, that of the calls. */
export function rpcMethodOf(message: McpMessage | undefined): string | undefined {
  return toolOf(message) === undefined ? message?.inspected.messages[0]?.method : TOOL_CALL;
}

/** The tool that is called; of a batch, the first. */
export function toolOf(message: McpMessage | undefined): string | undefined {
  return message?.tools[0];
}

/** The id that a refusal answers; null where no single request asks for an answer. */
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
