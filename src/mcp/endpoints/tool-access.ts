import { type McpGrants, toolGrantsOf } from '../../access/mcp-grants.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import type { JsonObject } from '../../common/json/read.js';
import { toolHash } from '../servers/tool-hash.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import type { ToolAccess } from '../inspection/tool-denial.js';
import type { McpCallContext } from './mcp-request.js';

/** By the id of the server, for as long as the key is cached. */
const grantedTools = new WeakMemo<McpGrants, string, ToolAccess | undefined>();

/**
 * The tools of its server that a call may use: those that are enabled and as they were accepted, and that the key grants.
 * Undefined when it may use all.
 */
export function toolAccessOf({ server, caller }: Pick<McpCallContext, 'server' | 'caller'>): ToolAccess | undefined {
  const { disabledTools, acceptedTools } = server;
  const { mcpGrants } = caller.principal;
  const granted = mcpGrants?.tools
    ? grantedTools.of(mcpGrants, server.id, () => toolGrantsOf(mcpGrants, server))
    : undefined;
  if (disabledTools.size === 0 && acceptedTools === undefined) return granted;
  return (tool, definition) =>
    !disabledTools.has(tool) && isAccepted(acceptedTools, tool, definition) && (granted?.(tool) ?? true);
}

/** A list shows a change before the gateway has stored it, so that its tools are compared one by one. */
function isAccepted(
  accepted: UsableMcpServer['acceptedTools'],
  tool: string,
  definition: JsonObject | undefined,
): boolean {
  if (accepted === undefined) return true;
  const known = accepted.get(tool);
  if (known === undefined) return false;
  return definition === undefined ? !known.isHeld : toolHash(definition) === known.hash;
}
