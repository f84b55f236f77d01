import { isAuthorityClaim, isDisguisedClaim } from '../../access/authority-claims.js';
import type { KeyUser, Principal } from '../../access/principal.js';
import type { JsonObject } from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';

/**
 * Where the claims of each kind of caller come from. "token" is the verified token of the company's identity provider or of
 * the authorization server.
 *
 * | claim           | user key                | service key    | token (external, OAuth)           | key + token          |
 * | --------------- | ----------------------- | -------------- | --------------------------------- | -------------------- |
 * | sub             | user.sub, else user_id  | api_key:<id>   | sub                               | token                |
 * | email           | user.email              | absent         | email                             | token                |
 * | username        | user.username           | absent         | username, else preferred_username | token                |
 * | user_id         | user.user_id            | absent         | absent: no gateway user is known  | the key's, if same sub |
 * | workspace_id    | gateway                 | gateway        | gateway                           | gateway              |
 * | organisation_id | gateway                 | gateway        | gateway                           | gateway              |
 * | scope           | absent                  | absent         | scope, else scp                   | token                |
 * | client_id       | absent                  | absent         | client_id, else azp               | token                |
 * | any other       | user.claims, if allowed | absent         | the token's claim of that name    | token                |
 *
 * Not allowed are claims that only an authority can make: the API refuses them. A token's claims that have such a name in another
 * spelling are left out.
 */
export interface ClaimSources {
  /** Set by the gateway; a token can never set them. */
  readonly organisationId: string;
  readonly workspaceId: string | null;
  /** The gateway key that the request brought. */
  readonly key?: Pick<Principal, 'id' | 'user'> | undefined;
  /** The verified claims of the user's token. They take precedence over the key's user. */
  readonly token?: JsonObject | undefined;
}

/** All claims about a caller. Unknown claims are absent, not null. */
export function claimsOfCaller({ organisationId, workspaceId, key, token }: ClaimSources): JsonObject {
  const user = key?.user ?? undefined;
  const personal = token === undefined ? claimsOfKey(key) : claimsOfToken(token);
  return known({
    ...personal,
    user_id: gatewayUserId(user, token),
    workspace_id: workspaceId,
    organisation_id: organisationId,
  });
}

function claimsOfKey(key: ClaimSources['key']): JsonObject {
  if (key === undefined) return {};
  const { user } = key;
  // Marked, so that a server can distinguish a machine from a person.
  if (user === null) return { sub: `api_key:${key.id}` };
  const { email, username } = user;
  const stated = Object.entries(user.claims ?? {}).filter(([claim]) => !isAuthorityClaim(claim));
  return { ...Object.fromEntries(stated), ...withoutUndefined({ email, username }), sub: user.sub ?? user.user_id };
}

function claimsOfToken(token: JsonObject): JsonObject {
  // A server that reads names in any case would take `AUD` for the gateway's `aud`.
  const named = Object.entries(token).filter(([claim]) => !isDisguisedClaim(claim));
  return {
    ...Object.fromEntries(named),
    username: token['username'] ?? token['preferred_username'],
    scope: token['scope'] ?? spaced(token['scp']),
    client_id: token['client_id'] ?? token['azp'],
  };
}

/** A key and a token of two people must not be merged into a third: the key's user counts only if the token is about the same. */
function gatewayUserId(user: KeyUser | undefined, token: JsonObject | undefined): string | undefined {
  if (token === undefined) return user?.user_id;
  return user?.sub !== undefined && user.sub === token['sub'] ? user.user_id : undefined;
}

/** Some providers list scopes in an array `scp`; RFC 9068, section 2.2.3, defines one string. */
function spaced(scopes: unknown): unknown {
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string').join(' ') : scopes;
}

function known(claims: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined && value !== null));
}
