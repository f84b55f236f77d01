import { slugFromName } from '../slug.js';

/** First parts of addresses that are the gateway's own: an MCP server or a workspace of that name could not be reached. */
const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'v1',
  'health',
  'metrics',
  'docs',
  'console',
  'oauth',
  '.well-known',
]);

/** The router takes upper and lower case for the same. */
export function isReservedSegment(segment: string): boolean {
  return RESERVED_SEGMENTS.has(segment.toLowerCase());
}

/** What a slug is made of: that of a workspace named "Docs" is `docs-workspace`. */
export function slugSource(name: string, kind: 'mcp' | 'workspace'): string {
  return isReservedSegment(slugFromName(name)) ? `${name} ${kind}` : name;
}
