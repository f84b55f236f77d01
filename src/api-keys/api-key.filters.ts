import { ArrayContains, type FindOptionsWhere, IsNull, Not, Raw } from 'typeorm';
import { amongIds, both, expiryFilter, searched } from '../database/list-options.js';
import { withoutUndefined } from '../common/without-undefined.js';
import type { ApiKey } from './api-key.entity.js';
import type { ApiKeyListQuery } from './dto/api-key-list.query.js';

type Filter = FindOptionsWhere<ApiKey>;

const LEVELS = { organisation: IsNull(), workspace: Not(IsNull()) } as const;

/**
 * The alternatives that a list of keys asks for.
 * @param owner the tenant, and the workspace that the query names
 */
export function filtersOf(query: ApiKeyListQuery, owner: Filter, now: Date): Filter[] {
  const { type, level, scope, user_id: userId, search } = query;
  const fields: Filter = withoutUndefined({
    id: amongIds(query.ids),
    workspaceId: level && LEVELS[level],
    type,
    scopes: scope && ArrayContains([scope]),
    user: userId === undefined ? undefined : Raw((column) => `${column} ->> 'user_id' = :user_id`, { user_id: userId }),
    expiresAt: expiryFilter(query, now),
  });
  // A level beside a workspace: the workspace decides, unless it contradicts.
  if (level === 'organisation' && owner.workspaceId !== undefined) return [{ ...owner, id: IsNull() }];
  return both([{ ...fields, ...owner }], searched(search, ['name', 'description', 'prefix']));
}
