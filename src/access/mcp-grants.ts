import { matchesWildcards } from '../common/wildcards.js';

/** The MCP servers and tools that a key may use. null: all of its tenant's. */
export interface McpGrants {
  /** Slugs or ids. */
  readonly servers: readonly string[] | null;
  /** Patterns `<server>/<tool>`; the server is a slug or an id. */
  readonly tools: readonly string[] | null;
}

/** A server by its two names. */
interface NamedServer {
  readonly id: string;
  readonly slug: string;
}

/** `*` stands for any characters, but not for the slash between the server and the tool. A tool's name may have more slashes. */
export const TOOL_PATTERN = /^[a-zA-Z0-9_*-]{1,255}\/.{1,255}$/s;

/** @param grants undefined for callers without a key, and for keys without grants */
export function mayUseServer(grants: McpGrants | undefined, { id, slug }: NamedServer): boolean {
  const servers = grants?.servers;
  return !servers || servers.some((server) => server === slug || server.toLowerCase() === id);
}

/** Whether a key may use a tool of the server, by its name; undefined when it may use all of them. */
export function toolGrantsOf(
  grants: McpGrants | undefined,
  { id, slug }: NamedServer,
): ((tool: string) => boolean) | undefined {
  if (!grants?.tools) return undefined;
  const patterns = grants.tools.flatMap((pattern) => {
    const { server, tool } = partsOf(pattern);
    return matchesWildcards(server, slug) || matchesWildcards(server.toLowerCase(), id) ? [tool] : [];
  });
  return (tool) => patterns.some((pattern) => matchesWildcards(pattern, tool));
}

/** Whether the second pattern names only tools that the first one names: a `*` of it must lie within a `*` of the first. */
export function coversTools(pattern: string, narrower: string): boolean {
  const [own, other] = [partsOf(pattern), partsOf(narrower)];
  return matchesWildcards(own.server, other.server) && matchesWildcards(own.tool, other.tool);
}

function partsOf(pattern: string): { readonly server: string; readonly tool: string } {
  const slash = pattern.indexOf('/');
  return { server: pattern.slice(0, slash), tool: pattern.slice(slash + 1) };
}
