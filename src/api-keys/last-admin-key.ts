import { ArrayContains, type EntityManager, IsNull, MoreThanOrEqual, Not } from 'typeorm';
import { SCOPES } from '../access/scopes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { ApiKey } from './api-key.entity.js';

type KeyState = Pick<ApiKey, 'workspaceId' | 'scopes' | 'expiresAt'>;

/**
 * An organisation keeps a key of its own with all scopes: without one, the API could not make another. So the key
 * that lasts longest of them cannot be deleted, lose a scope or end earlier. Call it in the transaction of the change.
 * @param after undefined when the key is deleted
 * @throws GatewayError `conflict`
 */
export async function assertAdminKeyRemains(
  manager: EntityManager,
  before: ApiKey,
  after: KeyState | undefined,
  now: Date,
): Promise<void> {
  const end = endOf(before, now);
  if (end === 0 || (after !== undefined && endOf(after, now) >= end)) return;
  const { id, organisationId, expiresAt } = before;
  // Two changes at the same time must not each count on the key that the other one takes away.
  await manager.findOne(Organisation, {
    select: { id: true },
    where: { id: organisationId },
    lock: { mode: 'for_no_key_update' },
  });
  const others = { organisationId, workspaceId: IsNull(), id: Not(id), scopes: ArrayContains([...SCOPES]) };
  const lasting = [IsNull(), ...(expiresAt === null ? [] : [MoreThanOrEqual(expiresAt)])];
  const isThereAnother = await manager.exists(ApiKey, {
    where: lasting.map((ends) => ({ ...others, expiresAt: ends })),
  });
  if (isThereAnother) return;
  throw new GatewayError('conflict', {
    message: 'No other API key of the organisation has all scopes and lasts as long; create one first.',
  });
}

/** Unix milliseconds until which a key can do everything in its organisation; 0: it cannot. */
function endOf({ workspaceId, scopes, expiresAt }: KeyState, now: Date): number {
  const held = new Set(scopes);
  if (workspaceId !== null || !SCOPES.every((scope) => held.has(scope))) return 0;
  if (expiresAt === null) return Infinity;
  return expiresAt > now ? expiresAt.getTime() : 0;
}
