import { createHash } from 'node:crypto';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { violatedUniqueIndex } from '../../database/database-errors.js';
import type { UserIdentityForwarding } from '../../identity/config/identity-config.js';

export const AUDIENCE_INDEX = 'uq_mcp_servers_audience';

/** `aud` of the signed tokens of a server; undefined when they have none. */
export function audienceOf(forwarding: UserIdentityForwarding, url: string): string | undefined {
  return forwarding.audience ?? (forwarding.jwt_audience === true ? url : undefined);
}

/**
 * The value of a unique index, so that an audience belongs to one server of one organisation. All organisations sign
 * with one key, so a second server with that audience could use its tokens at the first one. A digest, since an
 * audience can be longer than an index can hold. null when the tokens have no audience.
 */
export function audienceDigest(forwarding: UserIdentityForwarding | null | undefined, url: string): string | null {
  const audience = forwarding ? audienceOf(forwarding, url) : undefined;
  return audience === undefined ? null : createHash('sha256').update(folded(audience)).digest('base64url');
}

/** Some servers compare audiences as URLs, which ignore the case of the host, a default port and trailing slashes. */
function folded(audience: string): string {
  return (URL.canParse(audience) ? new URL(audience).href : audience).replace(/\/+$/, '');
}

/** @throws GatewayError `conflict` in place of the database's refusal of an audience */
export function refuseTakenAudience(error: unknown): never {
  if (violatedUniqueIndex(error) !== AUDIENCE_INDEX) throw error;
  throw new GatewayError('conflict', {
    message:
      'The audience belongs to another MCP server of this gateway: set another user_identity_forwarding.audience.',
    param: 'user_identity_forwarding.audience',
  });
}
