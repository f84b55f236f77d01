import { type FindOperator, IsNull } from 'typeorm';
import { SLUG_PATTERN } from '../common/slug.js';
import { isUuid } from '../common/uuid.js';
import type { Principal, Tenant } from './principal.js';
import { GatewayError } from '../common/errors/gateway.error.js';

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

/** The condition for what a caller may use: of one workspace, its own and what is for the whole organisation. */
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

/**
 * The row that a reference in an address means. Slugs are unique in a workspace only: a caller of the whole organisation may
 * find several, and means the organisation's own.
 * @param rows the organisation's own first
 * @param ambiguous error message when several workspaces have it
 * @throws GatewayError `not_found` or `conflict`
 */
export function meantRow<Row extends { readonly workspaceId: string | null }>(
  rows: readonly Row[],
  ambiguous: string,
): Row {
  const [row] = rows;
  return row?.workspaceId === null ? row : onlyRow(rows, ambiguous);
}

/**
 * The row that a caller means, where a guess would do harm: several rows are a conflict.
 * @throws GatewayError `not_found` or `conflict`
 */
export function onlyRow<Row>([row, another]: readonly Row[], ambiguous: string): Row {
  if (row === undefined) throw new GatewayError('not_found');
  if (another !== undefined) throw new GatewayError('conflict', { message: ambiguous });
  return row;
}
