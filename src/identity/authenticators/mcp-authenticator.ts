import type { Principal } from '../../access/principal.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { JsonObject } from '../../common/json/read.js';
import type { McpAuthKind } from '../claims/mcp-caller.js';
import type { McpServerIdentity } from '../config/identity-config.js';
import type { RawHeader } from '../headers/raw-headers.js';
import type { TokenSubject } from './token-subject.js';

/** What a request brings to say who its caller is. */
export interface McpRequest {
  readonly headers: readonly RawHeader[];
  /** The owner of the key in it, when that was looked up before the server was known. */
  readonly keyOwner?: Principal | undefined;
}

/** What one authenticator has found. */
export interface McpEvidence {
  readonly kind: McpAuthKind;
  /** Of a gateway key: the tenant. */
  readonly keyOwner?: Principal | undefined;
  /** Of a token: the user. */
  readonly user?: McpUser | undefined;
}

export interface McpUser extends TokenSubject {
  /** Verified claims of the token. */
  readonly claims: JsonObject;
  /** The token itself, only where it may be passed on to the server. */
  readonly forwardableToken?: string | undefined;
  /**
   * Whether the user may come to the server with the token alone. With a key, the key decides that.
   * @throws GatewayError `not_found` for a server of a tenant that the token does not grant
   */
  readonly assertMayEnter: () => void;
}

/** One way to say who one is. A new way is a new class in the list. */
export interface McpAuthenticator {
  /**
   * Undefined: the request has nothing for this authenticator.
   * @throws TokenRefusedError
   * @throws GatewayError
   */
  authenticate(request: McpRequest, server: McpServerIdentity, now: Date): MaybePromise<McpEvidence | undefined>;
}
