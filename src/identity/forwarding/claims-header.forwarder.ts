import type { McpCaller } from '../claims/mcp-caller.js';
import { selectClaims } from '../claims/select-claims.js';
import type { UserIdentityForwarding } from '../config/identity-config.js';
import type { IdentityForwarder } from './identity-forwarder.js';

/** Everything above printable ASCII. JSON itself escapes the characters below the space. */
const NOT_ASCII = /[\u007f-\uffff]/g;

/** Forwards the claims as unsigned JSON, for networks in which only the gateway can reach the server. */
export class ClaimsHeaderForwarder implements IdentityForwarder {
  readonly method = 'claims_header';

  valueFor(caller: McpCaller, forwarding: UserIdentityForwarding): string {
    return toHeaderJson(selectClaims(caller.claims, forwarding.include_claims));
  }
}

/**
 * JSON for a header: ASCII only (RFC 9110, section 5.5), other characters as `\uXXXX` (RFC 8259, section 7), which every JSON
 * parser decodes. Raw UTF-8 would arrive as Latin-1.
 */
export function toHeaderJson(value: object): string {
  return JSON.stringify(value).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
