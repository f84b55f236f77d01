import type { Principal } from '../../access/principal.js';
import { claimsOfCaller } from '../../identity/claims/caller-claims.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';

/** An administrator as the caller of an MCP server, for tests and previews. */
export function callerOfPrincipal(principal: Principal, serverWorkspaceId: string | null): McpCaller {
  const { id, user, organisationId } = principal;
  const isKey = principal.kind === 'api_key';
  return {
    kind: isKey ? 'api_key' : 'administrator',
    principal,
    claims: claimsOfCaller({
      organisationId,
      workspaceId: principal.workspaceId ?? serverWorkspaceId,
      key: isKey ? { id, user } : undefined,
      token: isKey ? undefined : { sub: id },
    }),
    sessionUser: JSON.stringify(['administrator', organisationId, id]),
  };
}
