import type { JsonObject } from '../../common/json/read.js';

/** What servers are told when `include_claims` is omitted, in this order. */
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

/** The named claims in the order of their names. Names that the caller has no claim for are left out, not null. */
export function selectClaims(claims: JsonObject, names: readonly string[] = DEFAULT_CLAIMS): JsonObject {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(claims, name)).map((name) => [name, claims[name]]));
}
