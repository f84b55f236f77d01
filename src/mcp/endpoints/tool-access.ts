import { Injectable } from '@nestjs/common';
import { type McpGrants, toolGrantsOf } from '../../access/mcp-grants.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import type { ToolAccess } from '../inspection/tool-denial.js';
import { HeldTools } from '../inspection/held-tools.js';
import type { McpCallContext } from './mcp-request.js';

@Injectable()
export class McpToolAccess {
  /** By the id of the server, for as long as the key is cached. */
  private readonly grantedTools = new WeakMemo<McpGrants, string, ToolAccess | undefined>();

  constructor(private readonly held: HeldTools) {}

  /**
   * The tools of its server that a call may use: those that are enabled and as they were accepted, and that the key grants.
   * Undefined when it may use all.
   */
  of({ server, caller }: Pick<McpCallContext, 'server' | 'caller'>): ToolAccess | undefined {
    const { id, organisationId, disabledTools, acceptedTools } = server;
    const { mcpGrants } = caller.principal;
    const granted = mcpGrants?.tools
      ? this.grantedTools.of(mcpGrants, id, () => toolGrantsOf(mcpGrants, server))
      : undefined;
    if (disabledTools.size === 0 && acceptedTools === undefined) return granted;
    const pinned = acceptedTools && { id, organisationId, acceptedTools };
    return (tool, definition) => {
      // First, so that a change is seen in every list.
      if (pinned && definition && !this.held.isAccepted(pinned, tool, definition)) return false;
      if (pinned && !definition && !this.held.mayCall(pinned, tool)) return false;
      return !disabledTools.has(tool) && (granted?.(tool) ?? true);
    };
  }
}
