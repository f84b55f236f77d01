import { SLUG_PATTERN } from '../common/slug.js';
import { isUuid } from '../common/uuid.js';
import type { Principal } from './principal.js';

/**
 * The `where` of every query for a management resource: the caller's organisation, and its workspace when it has one.
 * Callers of a whole organisation see the resources of all its workspaces.
 */
export function tenantWhere(principal: Principal): { readonly organisationId: string; readonly workspaceId?: string } {
  return principal.workspaceId === null
    ? { organisationId: principal.organisationId }
    : { organisationId: principal.organisationId, workspaceId: principal.workspaceId };
}

/** No slug is empty, so this one finds nothing. */
const NO_SLUG = '';

/** Part of a `where` that finds a resource by the reference in an address, an id or a slug. */
export function refWhere(ref: string): { readonly id: string } | { readonly slug: string } {
  if (isUuid(ref)) return { id: ref };
  // Junk stays away from the database, which fails on NUL characters.
  return { slug: SLUG_PATTERN.test(ref) ? ref : NO_SLUG };
}
