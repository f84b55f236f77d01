import { VERSION } from '../../common/version.js';

/** Who asks, when the gateway itself is the client of an MCP server. */
export const CLIENT_INFO = { name: 'tollgate', version: VERSION } as const;
