import type { McpCaller } from '../claims/mcp-caller.js';
import type { IdentityForwarder } from './identity-forwarder.js';

/**
 * Forwards the user's own token, for servers that validate it with its issuer. Only a token of the company's identity provider
 * that was validated for this server; never a gateway key, and never a token that was issued for the gateway (MCP authorization, "Access Token Privilege Restriction": no token passthrough).
 */
export class BearerForwarder implements IdentityForwarder {
  readonly method = 'bearer';

  valueFor(caller: McpCaller): string | undefined {
    if (caller.kind !== 'external' || caller.externalToken === undefined) return undefined;
    return `Bearer ${caller.externalToken}`;
  }
}
