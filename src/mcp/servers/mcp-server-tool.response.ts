import { toUnixSeconds } from '../../common/time/unix-time.js';
import type { McpServerTool } from './mcp-server-tool.entity.js';

export class McpServerToolResponse {
  /** The name of the tool. */
  readonly name: string;
  /** Whether clients can see and call the tool. */
  readonly enabled: boolean;
  /** What the server says about the tool. */
  readonly description: string | null;
  /** When the server last listed it, in Unix seconds; null: never. */
  readonly seen_at: number | null;
}

export class McpServerToolListResponse {
  readonly object: 'list';
  readonly data: McpServerToolResponse[];
  readonly total: number;
}

export function toToolResponse({ name, enabled, description, seenAt }: McpServerTool): McpServerToolResponse {
  return { name, enabled, description, seen_at: toUnixSeconds(seenAt) };
}
