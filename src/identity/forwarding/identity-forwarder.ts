import type { MaybePromise } from '../../common/maybe-promise.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import type { ForwardingMethod, UserIdentityForwarding } from '../config/identity-config.js';

/** One method of identity forwarding. */
export interface IdentityForwarder {
  readonly method: ForwardingMethod;
  /**
   * The value of the identity header; undefined when the caller has no identity that this method can forward.
   * @throws IdentityForwardingError
   */
  valueFor(caller: McpCaller, forwarding: UserIdentityForwarding, now: Date): MaybePromise<string | undefined>;
}
