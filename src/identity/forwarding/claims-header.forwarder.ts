import { toHeaderJson } from '../claims/header-json.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import { selectClaims } from '../claims/select-claims.js';
import type { UserIdentityForwarding } from '../config/identity-config.js';
import type { IdentityForwarder } from './identity-forwarder.js';

/** Forwards the claims as unsigned JSON, for networks in which only the gateway can reach the server. */
export class ClaimsHeaderForwarder implements IdentityForwarder {
  readonly method = 'claims_header';

  valueFor(caller: McpCaller, forwarding: UserIdentityForwarding): string {
    return toHeaderJson(selectClaims(caller.claims, forwarding.include_claims));
  }
}
