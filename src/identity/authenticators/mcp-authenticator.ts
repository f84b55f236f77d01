import type { Principal } from '../../access/principal.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { JsonObject } from '../../common/json/read.js';
import type { McpAuthKind } from '../claims/mcp-caller.js';
import type { McpServerIdentity } from '../config/identity-config.js';
import type { RawHeader } from '../headers/raw-headers.js';
import type { TokenSubject } from './token-subject.js';

/** The credentials of a request. */
export interface McpRequest {
  readonly headers: readonly RawHeader[];
  /** The owner of its key, when it was looked up before the server was known. */
  readonly keyOwner?: Principal | undefined;
}

/** The result of one authenticator. */
export interface McpEvidence {
  readonly kind: McpAuthKind;
  /** From a gateway key: decides the tenant. */
  readonly keyOwner?: Principal | undefined;
  /** From a token: decides the user. */
  readonly user?: McpUser | undefined;
}

export interface McpUser extends TokenSubject {
  /** Verified claims of the token. */
  readonly claims: JsonObject;
  /** The token itself, only if it may be forwarded to the server. */
  readonly forwardableToken?: string | undefined;
  /**
   * Whether the token alone gives access to the server. With a key, the key decides.
   * @throws GatewayError `not_found` for a server of a tenant that the token does not grant
   */
  readonly assertMayEnter: () => void;
}

/** One way to authenticate. A new way is a new class in the list of `MCP_AUTHENTICATORS`. */
export interface McpAuthenticator {
  /**
   * Undefined when the request has no credential of this kind.
   * @throws TokenRefusedError
   * @throws GatewayError
   */
  authenticate(request: McpRequest, server: McpServerIdentity, now: Date): MaybePromise<McpEvidence | undefined>;
}
