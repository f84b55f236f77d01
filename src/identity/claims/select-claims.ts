import type { JsonObject } from '../../common/json/read.js';

/** The claims that servers receive when `include_claims` is omitted, in this order. */
const DEFAULT_CLAIMS = [
  'sub',
  'email',
  'username',
  'user_id',
  'workspace_id',
  'organisation_id',
  'scope',
  'client_id',
] as const;

/** The named claims, in the order of the names. Unknown claims are left out, not null. */
export function selectClaims(claims: JsonObject, names: readonly string[] = DEFAULT_CLAIMS): JsonObject {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(claims, name)).map((name) => [name, claims[name]]));
}
