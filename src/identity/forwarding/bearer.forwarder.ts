import type { McpCaller } from '../claims/mcp-caller.js';
import type { UserIdentityForwarding } from '../config/identity-config.js';
import type { IdentityForwarder } from './identity-forwarder.js';
import { IdentityForwardingError } from './identity-forwarding.error.js';

/**
 * Forwards the user's own token, for servers that validate it with its issuer. Only a token of the company's identity provider
 * that was validated for this server; never a gateway key, and never a token that was issued for the gateway (MCP authorization, "Access Token Privilege Restriction": no token passthrough).
 */
export class BearerForwarder implements IdentityForwarder {
  readonly method = 'bearer';

  /** Undefined only for a caller without such a token, where the server lets them in. */
  valueFor({ kind, externalToken }: McpCaller, { allow_anonymous }: UserIdentityForwarding): string | undefined {
    if (kind === 'external' && externalToken !== undefined) return `Bearer ${externalToken}`;
    if (allow_anonymous !== true) throw new IdentityForwardingError('no_token');
    return undefined;
  }
}
