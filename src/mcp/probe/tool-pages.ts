import { isStorableTool, MAX_TOOLS } from '../servers/mcp-server-tool.store.js';
import type { SeenTool } from '../servers/seen-tool.js';

/** The most pages that are requested. */
const MAX_PAGES = 50;

export interface ToolPage {
  readonly tools: readonly SeenTool[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

/** The listed tools of a server, each once, without tools that cannot be stored. */
export interface ToolList {
  readonly tools: readonly SeenTool[];
  /** Whether the list is complete. Otherwise a missing tool may still exist. */
  readonly isWhole: boolean;
}

export const NO_TOOLS: ToolList = { tools: [], isWhole: true };

/** Requests page after page, until the last one or a page that was read before. */
export async function gatherTools(pageAt: (cursor: string | undefined) => Promise<ToolPage>): Promise<ToolList> {
  const byName = new Map<string, SeenTool>();
  const asked = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && byName.size < MAX_TOOLS; page += 1) {
    const { tools, nextCursor } = await pageAt(cursor);
    for (const tool of tools) if (isStorableTool(tool)) byName.set(tool.name, tool);
    if (nextCursor === undefined) return { tools: [...byName.values()], isWhole: true };
    if (asked.has(nextCursor)) break;
    asked.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: [...byName.values()], isWhole: false };
}
