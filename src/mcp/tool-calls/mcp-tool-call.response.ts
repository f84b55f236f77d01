import { ApiProperty } from '@nestjs/swagger';
import { isObject } from '../../common/json/read.js';
import type { ToolAnswer } from '../probe/probe.types.js';

/** Of a message that a server wrote. */
const MAX_MESSAGE = 2_000;

export class McpToolErrorResponse {
  /** The code of JSON-RPC or MCP. */
  readonly code: number;
  /** What the server says. */
  readonly message: string;
}

export class McpToolCallResponse {
  readonly object: 'mcp-tool-call';
  /** `ok`; `tool_error`: the tool reported that it failed; `rpc_error`: the server refused the call. */
  @ApiProperty({ enum: ['ok', 'tool_error', 'rpc_error'] })
  readonly outcome: 'ok' | 'tool_error' | 'rpc_error';
  /** The parts of the result (text, images, links …), as the server sent them. */
  readonly content: Record<string, unknown>[];
  /** The result as data; null: the tool has none. */
  readonly structured_content: Record<string, unknown> | null;
  /** The error of an `rpc_error`; otherwise null. */
  @ApiProperty({ type: McpToolErrorResponse, nullable: true })
  readonly error: McpToolErrorResponse | null;
  /** Time that the call took, with the handshake before it. */
  readonly latency_ms: number;
}

export function toToolCallResponse(answer: ToolAnswer, latencyMs: number): McpToolCallResponse {
  const object = 'mcp-tool-call' as const;
  const latency_ms = Math.round(latencyMs);
  if ('error' in answer) {
    const { code, message } = answer.error;
    const error = { code, message: message.slice(0, MAX_MESSAGE) };
    return { object, outcome: 'rpc_error', content: [], structured_content: null, error, latency_ms };
  }
  const { content, structuredContent, isError } = answer.result;
  return {
    object,
    outcome: isError === true ? 'tool_error' : 'ok',
    content: Array.isArray(content) ? content.filter(isObject).map((part) => ({ ...part })) : [],
    structured_content: isObject(structuredContent) ? { ...structuredContent } : null,
    error: null,
    latency_ms,
  };
}
