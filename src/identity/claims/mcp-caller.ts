import type { Principal } from '../../access/principal.js';
import type { JsonObject } from '../../common/json/read.js';

/** How the user was recognised. With a key and a token, the token's way: it is the token that speaks of the user. */
export type McpAuthKind = 'api_key' | 'external' | 'oauth';

/** Who calls an MCP server. */
export interface McpCaller {
  readonly kind: McpAuthKind;
  /** The tenant that the request acts for, and the key if it brought one. */
  readonly principal: Principal;
  /** All that is known about the user. */
  readonly claims: JsonObject;
  /** The user as a session remembers it: stable over keys that rotate and tokens that are renewed. */
  readonly sessionUser: string;
  /** Only of `external`: the token of the company's provider, validated for this server. Nothing else may be passed on. */
  readonly externalToken?: string | undefined;
}
