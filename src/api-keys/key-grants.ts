import { coversTools } from '../access/mcp-grants.js';
import { coversPattern } from '../access/model-patterns.js';
import type { KeyUser, Principal } from '../access/principal.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isSameKind } from './rate-limit-counters.js';
import { isSameValue } from '../common/same-value.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { ApiKey } from './api-key.entity.js';

/** What holds a key in, whatever its scopes are. */
export type Bounds = Pick<
  ApiKey,
  | 'expiresAt'
  | 'metadata'
  | 'rateLimits'
  | 'allowedModels'
  | 'allowedVirtualKeys'
  | 'allowedMcpServers'
  | 'allowedMcpTools'
>;

/** A caller can never hand out what it lacks. */
export function assertGrantable(principal: Principal, scopes: readonly string[]): void {
  const held: ReadonlySet<string> = principal.scopes;
  const lacking = scopes.filter((scope) => !held.has(scope));
  if (lacking.length === 0) return;
  throw denied('scopes', `The caller itself lacks the scope ${lacking[0]}.`);
}

/**
 * A caller that gets the secret of a user's key acts as that user at every MCP server that the key reaches. Its own user is
 * the same in every field: another `sub` or claim would be another identity.
 */
export function assertMayAssert(principal: Principal, user: KeyUser | null): void {
  if (user === null || principal.scopes.has('identities.assert')) return;
  if (principal.user !== null && isSameValue(principal.user, user)) return;
  throw denied('user', 'The caller lacks the scope identities.assert, which the key of another user takes.');
}

/** Nor can it hand out what it has without the bounds that it has it in. */
export function assertWithinBounds(principal: Principal, key: Bounds): void {
  assertNoLongerLife(principal, key);
  assertSameMetadata(principal, key);
  assertNoHigherRates(principal, key);
  assertNoFurtherMcp(principal, key);
  assertNoMoreAccess(principal, key);
}

function assertNoLongerLife({ expiresAt: end }: Principal, { expiresAt }: Bounds): void {
  if (end === null || (expiresAt !== null && expiresAt <= end)) return;
  throw denied('expires_at', `expires_at must not be later than that of the caller itself, ${toUnixSeconds(end)}.`);
}

function assertSameMetadata({ enforcedMetadata }: Principal, { metadata }: Bounds): void {
  for (const [name, value] of Object.entries(enforcedMetadata)) {
    if (metadata[name] === value) continue;
    throw denied(`metadata.${name}`, `metadata.${name} must be what the caller itself is held to.`);
  }
}

function assertNoHigherRates({ rateLimits: own }: Principal, { rateLimits }: Bounds): void {
  for (const limit of own) {
    if (rateLimits.some((other) => isSameKind(limit, other) && other.value <= limit.value)) continue;
    const { value, unit, per = 'key' } = limit;
    throw denied(
      'rate_limits',
      `rate_limits must hold at most ${value} requests (${unit}, per ${per}), as the caller itself does.`,
    );
  }
}

/** Names are compared as they are written: a slug does not stand for the id of its server. */
function assertNoFurtherMcp({ mcpGrants }: Principal, { allowedMcpServers, allowedMcpTools }: Bounds): void {
  const { servers = null, tools = null } = mcpGrants ?? {};
  if (servers !== null && !(allowedMcpServers?.every((server) => servers.includes(server)) ?? false)) {
    throw denied('allowed_mcp_servers', 'allowed_mcp_servers must be among those of the caller itself.');
  }
  const isCovered = (tool: string): boolean => tools?.some((own) => coversTools(own, tool)) ?? true;
  if (tools !== null && !(allowedMcpTools?.every(isCovered) ?? false)) {
    throw denied('allowed_mcp_tools', 'allowed_mcp_tools must be covered by the patterns of the caller itself.');
  }
}

function assertNoMoreAccess({ providerAccess }: Principal, { allowedModels, allowedVirtualKeys }: Bounds): void {
  const { allowedModels: models = null, allowedVirtualKeys: virtualKeys = null } = providerAccess ?? {};
  if (models !== null && !(allowedModels?.every((pattern) => coversPattern(models, pattern)) ?? false)) {
    throw denied('allowed_models', 'allowed_models must hold only models that the caller itself may use.');
  }
  if (virtualKeys !== null && !(allowedVirtualKeys?.every((id) => virtualKeys.includes(id)) ?? false)) {
    throw denied('allowed_virtual_keys', 'allowed_virtual_keys must hold only those that the caller itself may use.');
  }
}

function denied(param: string, message: string): GatewayError {
  return new GatewayError('permission_denied', { message, param });
}
