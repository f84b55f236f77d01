import { type FindOperator, IsNull } from 'typeorm';
import { SLUG_PATTERN } from '../common/slug.js';
import { isUuid } from '../common/uuid.js';
import type { Principal, Tenant } from './principal.js';

interface OwnOrShared {
  readonly organisationId: string;
  readonly workspaceId?: string | FindOperator<string>;
}

/**
 * The `where` of every query for a management resource: the caller's organisation, and its workspace when it has one.
 * Callers of a whole organisation see the resources of all its workspaces.
 */
export function tenantWhere(principal: Principal): { readonly organisationId: string; readonly workspaceId?: string } {
  return principal.workspaceId === null
    ? { organisationId: principal.organisationId }
    : { organisationId: principal.organisationId, workspaceId: principal.workspaceId };
}

/** The same as alternatives, with what is for the whole organisation: a caller of one workspace may use that as well. */
export function ownOrSharedWhere({ organisationId, workspaceId }: Tenant): OwnOrShared[] {
  if (workspaceId === null) return [{ organisationId }];
  return [
    { organisationId, workspaceId },
    { organisationId, workspaceId: IsNull() },
  ];
}

/** No slug is empty, so this one finds nothing. */
const NO_SLUG = '';

/** Part of a `where` that finds a resource by the reference in an address, an id or a slug. */
export function refWhere(ref: string): { readonly id: string } | { readonly slug: string } {
  if (isUuid(ref)) return { id: ref };
  // Junk stays away from the database, which fails on NUL characters.
  return { slug: SLUG_PATTERN.test(ref) ? ref : NO_SLUG };
}
