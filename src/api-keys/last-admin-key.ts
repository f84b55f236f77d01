import { ArrayContains, type EntityManager, type FindOptionsWhere, IsNull, MoreThanOrEqual, Not, Raw } from 'typeorm';
import { SCOPES } from '../access/scopes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Organisation } from '../workspaces/organisation.entity.js';
import { ApiKey } from './api-key.entity.js';
import type { Bounds } from './key-grants.js';

type KeyState = Pick<ApiKey, 'workspaceId' | 'scopes'> & Bounds;

const EMPTY_LIST = Raw((column) => `${column} = '[]'`);
const EMPTY_MAP = Raw((column) => `${column} = '{}'`);
const WITHOUT_BOUNDS: FindOptionsWhere<ApiKey> = {
  metadata: EMPTY_MAP,
  rateLimits: EMPTY_LIST,
  allowedModels: IsNull(),
  allowedVirtualKeys: IsNull(),
  allowedMcpServers: IsNull(),
  allowedMcpTools: IsNull(),
};

/** What an organisation keeps a key for: bounds are handed on, and no key can take off its own. */
const KINDS = [
  { isMeant: (): boolean => true, where: {}, means: 'has all scopes' },
  { isMeant: isWithoutBounds, where: WITHOUT_BOUNDS, means: 'has all scopes without bounds' },
];

/**
 * An organisation keeps a key of its own with all scopes, and one without bounds: the API could not make another. So the key that
 * lasts longest of them cannot be deleted, lose a scope, be bounded or end earlier. Call it in the transaction of the change.
 * @param after undefined when the key is deleted
 * @throws GatewayError `conflict`
 */
export async function assertAdminKeyRemains(
  manager: EntityManager,
  before: ApiKey,
  after: KeyState | undefined,
  now: Date,
): Promise<void> {
  for (const { isMeant, where, means } of KINDS) {
    const end = isMeant(before) ? endOf(before, now) : 0;
    const newEnd = after !== undefined && isMeant(after) ? endOf(after, now) : 0;
    if (newEnd >= end || (await isThereAnother(manager, before, where))) continue;
    throw new GatewayError('conflict', {
      message: `No other API key of the organisation ${means} and lasts as long; create one first.`,
    });
  }
}

async function isThereAnother(
  manager: EntityManager,
  { id, organisationId, expiresAt }: ApiKey,
  kind: FindOptionsWhere<ApiKey>,
): Promise<boolean> {
  // Two changes at the same time must not each count on the key that the other one takes away.
  await manager.findOne(Organisation, {
    select: { id: true },
    where: { id: organisationId },
    lock: { mode: 'for_no_key_update' },
  });
  const others = { ...kind, organisationId, workspaceId: IsNull(), id: Not(id), scopes: ArrayContains([...SCOPES]) };
  const lasting = [IsNull(), ...(expiresAt === null ? [] : [MoreThanOrEqual(expiresAt)])];
  return manager.exists(ApiKey, { where: lasting.map((ends) => ({ ...others, expiresAt: ends })) });
}

/** Unix milliseconds until which a key can do everything in its organisation; 0: it cannot. */
function endOf({ workspaceId, scopes, expiresAt }: KeyState, now: Date): number {
  const held = new Set(scopes);
  if (workspaceId !== null || !SCOPES.every((scope) => held.has(scope))) return 0;
  if (expiresAt === null) return Infinity;
  return expiresAt > now ? expiresAt.getTime() : 0;
}

function isWithoutBounds(key: KeyState): boolean {
  const allowed = [key.allowedModels, key.allowedVirtualKeys, key.allowedMcpServers, key.allowedMcpTools];
  const isUnlimited = Object.keys(key.metadata).length + key.rateLimits.length === 0;
  return isUnlimited && allowed.every((one) => one === null);
}
