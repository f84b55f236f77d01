import type { MaybePromise } from '../../common/maybe-promise.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import type { ForwardingMethod, UserIdentityForwarding } from '../config/identity-config.js';

/** One way to tell a server who the user is. */
export interface IdentityForwarder {
  readonly method: ForwardingMethod;
  /**
   * The value of the identity header; undefined when the caller has no identity of the kind that this method passes on.
   * @throws IdentityForwardingError
   */
  valueFor(caller: McpCaller, forwarding: UserIdentityForwarding, now: Date): MaybePromise<string | undefined>;
}
