import { randomBytes } from 'node:crypto';
import { isUuid } from './uuid.js';

const MAX_SLUG_LENGTH = 255;
export const SLUG_PATTERN = /^[a-zA-Z0-9_-]+$/;

/**
 * A slug made from a name: `Cohere (EU)` becomes `cohere-eu`. Names without Latin letters or digits get a random slug,
 * and names in the form of an id get a suffix.
 */
export function slugFromName(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG_LENGTH - 7);
  if (slug === '') return randomSuffix();
  return isUuid(slug) ? withSuffix(slug) : slug;
}

/** Another slug for the same name, for when the first is taken. */
export function withSuffix(slug: string): string {
  return `${slug.slice(0, MAX_SLUG_LENGTH - 7)}-${randomSuffix()}`;
}

function randomSuffix(): string {
  return randomBytes(3).toString('hex');
}

/**
 * First path segments that the gateway uses itself. An MCP server or a workspace with such a slug could not be reached.
 */
const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'v1',
  'health',
  'metrics',
  'docs',
  'console',
  'oauth',
  '.well-known',
]);

/** Ignores case, as the router does. */
export function isReservedSegment(segment: string): boolean {
  return RESERVED_SEGMENTS.has(segment.toLowerCase());
}

/** The name to make a slug from. It avoids reserved segments: a workspace named "Docs" gets `docs-workspace`. */
export function slugSource(name: string, kind: 'mcp' | 'workspace'): string {
  return isReservedSegment(slugFromName(name)) ? `${name} ${kind}` : name;
}
