import { type McpGrants, toolGrantsOf } from '../../access/mcp-grants.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import type { ToolAccess } from '../inspection/tool-denial.js';
import type { McpCallContext } from './mcp-request.js';

/** By the id of the server, for as long as the key is cached. */
const known = new WeakMemo<McpGrants, string, ToolAccess | undefined>();

/** The tools of its server that a call may use: those that are enabled, and that the key grants. Undefined when it may use all. */
export function toolAccessOf({ server, caller }: Pick<McpCallContext, 'server' | 'caller'>): ToolAccess | undefined {
  const { disabledTools } = server;
  const { mcpGrants } = caller.principal;
  const granted = mcpGrants?.tools ? known.of(mcpGrants, server.id, () => toolGrantsOf(mcpGrants, server)) : undefined;
  if (disabledTools.size === 0) return granted;
  return (tool) => !disabledTools.has(tool) && (granted?.(tool) ?? true);
}
