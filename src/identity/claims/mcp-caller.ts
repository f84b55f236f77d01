import type { Principal } from '../../access/principal.js';
import type { JsonObject } from '../../common/json/read.js';

/** How the user was authenticated. With a key and a token, by the token, since the token names the user. `administrator`: one who tries a tool out. */
export type McpAuthKind = 'api_key' | 'external' | 'oauth' | 'administrator';

/** Who calls an MCP server. */
export interface McpCaller {
  readonly kind: McpAuthKind;
  /** The tenant that the request acts for, and the key if there is one. */
  readonly principal: Principal;
  /** All claims about the user. */
  readonly claims: JsonObject;
  /** Identifies the user in a session. Stays the same when keys rotate and tokens are renewed. */
  readonly sessionUser: string;
  /** Only for `external`: the token of the company's provider, validated for this server. No other token may be forwarded. */
  readonly externalToken?: string | undefined;
}
