import { GatewayError } from '../common/errors/gateway.error.js';
import type { SecretMapping } from './secret-mapping.entity.js';

const MAX_NAMED = 10;

/** A change that would take a reference away from what uses it. */
export function inUse(mappings: readonly SecretMapping[], cause?: unknown): GatewayError {
  // The same slug may be in several workspaces, and one owner may use a reference for several fields.
  const owners = new Map(mappings.map((mapping) => [`${mapping.ownerType} ${mapping.ownerId}`, mapping]));
  const names = [...owners.values()].map(({ ownerType, ownerSlug }) => `${ownerType} ${ownerSlug}`);
  const more = names.length > MAX_NAMED ? ` and others, ${names.length} in all` : '';
  const users = names.length === 0 ? '' : ` by ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return new GatewayError('conflict', { message: `The secret reference is in use${users}.`, cause });
}
