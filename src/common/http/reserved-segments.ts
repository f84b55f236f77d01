/** First parts of addresses that are the gateway's own: a server of that name could not be reached. */
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
