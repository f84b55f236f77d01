import type { Principal } from '../../access/principal.js';

/** A gateway key of workspace `ws-1` in organisation `org-1`, with no user of its own. */
export const PRINCIPAL: Principal = {
  kind: 'api_key',
  id: 'key-1',
  organisationId: 'org-1',
  workspaceId: 'ws-1',
  scopes: new Set(['mcp.invoke']),
  user: null,
  enforcedMetadata: {},
  defaultMetadata: {},
  rateLimits: [],
  expiresAt: null,
};
