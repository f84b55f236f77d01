import { isStorableTool, MAX_TOOLS, type SeenTool } from '../servers/mcp-server-tool.store.js';

/** More pages of tools are not asked for. */
const MAX_PAGES = 50;

export interface ToolPage {
  readonly tools: readonly SeenTool[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

/** The tools that a server has listed, each once, without those whose names cannot be stored. */
export interface ToolList {
  readonly tools: readonly SeenTool[];
  /** Whether the list came to its end: of one that did not, nothing is known of the tools that are missing. */
  readonly isWhole: boolean;
}

export const NO_TOOLS: ToolList = { tools: [], isWhole: true };

/** Asks for page after page. A server that names a page again has no end, whatever it means by that. */
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
