import { type EntityManager, type FindManyOptions, In } from 'typeorm';
import type { Tenant } from '../access/principal.js';
import { SLUG_PATTERN } from '../common/slug.js';
import { foldId, isUuid } from '../common/uuid.js';
import { Workspace } from './workspace.entity.js';

/**
 * Finds the workspaces that are named by ids or slugs, all at once: gives the id for each name, undefined for one that the tenant
 * cannot see.
 * @param lock in a transaction: until its end none of them can be deleted
 */
export async function findWorkspaceIds(
  manager: EntityManager,
  { organisationId, workspaceId }: Tenant,
  refs: readonly string[],
  lock?: FindManyOptions<Workspace>['lock'],
): Promise<(ref: string) => string | undefined> {
  const ids = refs.filter(isUuid);
  // Junk stays away from the database, which fails on NUL characters.
  const slugs = refs.filter((ref) => !isUuid(ref) && SLUG_PATTERN.test(ref));
  const found = await manager.find(Workspace, {
    select: { id: true, slug: true },
    where: [
      { organisationId, id: In(ids) },
      { organisationId, slug: In(slugs) },
    ],
    lock,
  });
  const visible = found.filter(({ id }) => workspaceId === null || workspaceId === id);
  const byId = new Map(visible.map(({ id }) => [id, id]));
  const bySlug = new Map(visible.map(({ id, slug }) => [slug, id]));
  return (ref) => (isUuid(ref) ? byId.get(foldId(ref)) : bySlug.get(ref));
}
